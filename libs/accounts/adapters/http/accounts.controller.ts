import { Controller, Get, HttpCode, Post, UseInterceptors } from '@nestjs/common';
import { IsString } from 'class-validator';
import { Public, Scoped } from '#platform/http/access.js';
import { CurrentCaller, type Caller } from '#platform/http/caller.js';
import { JsonBody } from '#platform/http/json-body.js';
import { Field, Operation, Section } from '#platform/http/openapi/operation.js';
import { GetAccount } from '../../application/get-account.js';
import { SignUp } from '../../application/sign-up.js';
import { MAX_NAME_LENGTH } from '../../domain/account.js';
import { SignupLimit } from './signup-limit.js';
import { ACCOUNT, accountView, issuedKeyView, NEW_ACCOUNT } from './views.js';

class SignUpBody {
  @Field({
    description: `1 to ${MAX_NAME_LENGTH} characters, not only whitespace.`,
    examples: ['Acme'],
    ...{ minLength: 1, maxLength: MAX_NAME_LENGTH },
  })
  @IsString({ message: 'name must be a string.' })
  name!: string;
}

@Section('Account')
@Controller()
export class AccountsController {
  constructor(
    private readonly signUp: SignUp,
    private readonly getAccount: GetAccount,
  ) {}

  @Public()
  @UseInterceptors(SignupLimit)
  @Post('accounts')
  @HttpCode(201)
  @Operation({
    id: 'signUp',
    summary: 'Create an account',
    description: 'Creates an account and its first API key, which has all scopes. Requires no API key.',
    response: { description: 'The account with its API key, which is shown only once.', body: NEW_ACCOUNT },
    errors: ['signup_closed'],
  })
  async create(@JsonBody(SignUpBody) { name }: SignUpBody): Promise<object> {
    const signedUp = await this.signUp.execute(name);
    const { id, plan, createdAt } = signedUp.account;
    return { id, name, plan, createdAt, apiKey: issuedKeyView(signedUp) };
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
    return accountView(await this.getAccount.execute(accountId));
  }
}
