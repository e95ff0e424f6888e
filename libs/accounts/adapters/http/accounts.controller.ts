import { Controller, Get, HttpCode, Patch, Post, Req, Res, UseInterceptors } from '@nestjs/common';
import { IsBoolean, IsIn, IsOptional, IsString } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type DeliveryMode } from '#kernel/delivery-mode.js';
import { DELIVERY_MODE_NAMES } from '#kernel/delivery-mode.js';
import { Public, Scoped } from '#platform/http/access/access.js';
import { CurrentCaller } from '#platform/http/access/caller.js';
import type { Caller } from '#kernel/caller.js';
import { JsonBody } from '#platform/http/body/json-body.js';
import { Field, Operation, Section } from '#platform/http/openapi/operation.js';
import { REPEATABLE, Repeats } from '#platform/http/access/repeats.js';
import { ChangeAccount } from '../../application/change-account.js';
import { ReadAccounts } from '../../application/read-accounts.js';
import { SignUp } from '../../application/sign-up.js';
import { MAX_NAME_LENGTH } from '../../domain/account.js';
import { SignupLimit } from './signup-limit.js';
import { ACCOUNT, accountView, DELIVERY_MODE, NAME_RULES, NEW_ACCOUNT, newAccountView } from './views.js';

class SignUpBody {
  @Field({
    description: `1 to ${MAX_NAME_LENGTH} characters, not only whitespace.`,
    examples: ['Acme'],
    ...NAME_RULES,
  })
  @IsString({ message: 'name must be a string.' })
  name!: string;
}

class ChangeOwnAccountBody {
  @Field({ description: 'The new name. Unchanged if omitted.', examples: ['Acme Ltd'], ...NAME_RULES })
  @IsOptional()
  @IsString({ message: 'name must be a string.' })
  name?: string | null;

  @Field({
    $ref: DELIVERY_MODE,
    description: 'How messages that are accepted from now on are delivered. Unchanged if omitted.',
    examples: ['pull'],
  })
  @IsOptional()
  @IsIn(DELIVERY_MODE_NAMES, { message: `delivery must be one of ${DELIVERY_MODE_NAMES.join(', ')}.` })
  delivery?: DeliveryMode | null;

  @Field({
    description: 'Whether messages are accepted, but not delivered. Unchanged if omitted.',
    examples: [true],
  })
  @IsOptional()
  @IsBoolean({ message: 'paused must be true or false.' })
  paused?: boolean | null;
}

@Section('Account')
@Controller()
export class AccountsController {
  constructor(
    private readonly signUp: SignUp,
    private readonly accounts: ReadAccounts,
    private readonly changeAccount: ChangeAccount,
    private readonly repeats: Repeats,
  ) {}

  @Public()
  @UseInterceptors(SignupLimit)
  @Post('accounts')
  @HttpCode(201)
  @Operation({
    id: 'signUp',
    summary: 'Create an account',
    description:
      'Creates an account and its first API key, which has all scopes. Requires no API key. An `Idempotency-Key` is known ' +
      'for requests from the same address only, and should be random.',
    headers: REPEATABLE.headers,
    response: {
      description: 'The account with its API key, which is shown only once, but to requests repeated with their key.',
      body: NEW_ACCOUNT,
      headers: REPEATABLE.responseHeaders,
    },
    errors: ['signup_closed', ...REPEATABLE.errors],
  })
  async create(
    @JsonBody(SignUpBody) body: SignUpBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    return this.repeats.atomically({ request, reply, body }, async () =>
      newAccountView(await this.signUp.execute(body.name)),
    );
  }

  @Scoped('account:manage')
  @Get('account')
  @Operation({
    id: 'getAccount',
    summary: 'Get the account',
    description: 'Returns the account of the API key.',
    response: { description: 'The account.', body: ACCOUNT },
  })
  async get(@CurrentCaller() { accountId }: Caller): Promise<object> {
    return accountView(await this.accounts.find(accountId, 'account'));
  }

  @Scoped('account:manage')
  @Patch('account')
  @Operation({
    id: 'changeOwnAccount',
    summary: 'Change the account',
    description:
      'Changes the name of the account, or how messages are delivered, everywhere from the next request on. Messages ' +
      'that were accepted before keep their mode of delivery. While the account is paused, messages are accepted and wait: after a second, no delivery of ' +
      'any mode begins, and leases are empty. Deliveries that have begun are finished. Once it is no longer paused, they go ' +
      'on within a second. Fields that are omitted or null stay as they are.',
    response: { description: 'The changed account.', body: ACCOUNT },
  })
  async change(
    @CurrentCaller() { accountId }: Caller,
    @JsonBody(ChangeOwnAccountBody) { name, delivery, paused }: ChangeOwnAccountBody,
  ): Promise<object> {
    const changes = { name: name ?? undefined, delivery: delivery ?? undefined, paused: paused ?? undefined };
    return accountView((await this.changeAccount.execute(accountId, changes, 'account')).after);
  }
}
