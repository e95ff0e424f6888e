import { Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import {
  IsBoolean,
  IsOptional,
  IsString,
  Validate,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FieldError } from '#kernel/domain-error.js';
import type { Page } from '#kernel/page.js';
import { ForOperators } from '#platform/http/access/access.js';
import { CurrentOperator } from '#platform/http/access/caller.js';
import { JsonBody } from '#platform/http/body/json-body.js';
import { Field, Operation, Section } from '#platform/http/openapi/operation.js';
import { pageModel, pageOf, PAGING, readPage, type PageView } from '#platform/http/body/paging.js';
import { REPEATABLE, Repeats } from '#platform/http/access/repeats.js';
import type { AccountFilter } from '../../application/accounts.js';
import { Audit, difference } from '../../application/audit.js';
import { ChangeAccount } from '../../application/change-account.js';
import { CreateApiKey } from '../../application/create-api-key.js';
import { ReadAccounts } from '../../application/read-accounts.js';
import { RevokeApiKey } from '../../application/revoke-api-key.js';
import type { Limits } from '#kernel/limits.js';
import type { Account } from '../../domain/account.js';
import { limitsError } from '../../domain/request-limits.js';
import { SCOPES } from '../../domain/api-key.js';
import { CreateApiKeyBody, newKeyOf } from './api-keys.controller.js';
import {
  ACCOUNT_ID,
  API_KEY_PAGE,
  apiKeyView,
  ISSUED_KEY,
  issuedKeyView,
  KEY_ID,
  LIMITS,
  OPERATORS_ACCOUNT,
  operatorsAccountView,
  PLAN,
} from './views.js';

/** The domain's rule for limits, as a rule of a body. */
@ValidatorConstraint()
class ValidLimits implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return limitsError(value) === null;
  }

  defaultMessage(): string {
    return limitsError(undefined) ?? '';
  }
}

class ChangeAccountBody {
  @Field({ ...PLAN, description: 'The new plan. Unchanged if omitted.', examples: ['enterprise'] })
  @IsOptional()
  @IsString({ message: 'plan must be the name of a plan.' })
  plan?: string | null;

  @Field({
    $ref: LIMITS,
    description: 'Individually agreed limits. Only with a plan that has none of its own, such as `enterprise`.',
    examples: [{ perMinute: 5_000, perDay: 1_000_000 }],
  })
  @IsOptional()
  @Validate(ValidLimits)
  limits?: Limits | null;

  @Field({
    description: 'Whether the keys of the account are refused and its queued messages wait. Unchanged if omitted.',
    examples: [false],
  })
  @IsOptional()
  @IsBoolean({ message: 'suspended must be true or false.' })
  suspended?: boolean | null;
}

@Section('Operators')
@ForOperators()
@Controller('admin/accounts')
export class AdminAccountsController {
  constructor(
    private readonly accounts: ReadAccounts,
    private readonly changeAccount: ChangeAccount,
    private readonly createKey: CreateApiKey,
    private readonly revokeKey: RevokeApiKey,
    private readonly audit: Audit,
    private readonly repeats: Repeats,
  ) {}

  @Get()
  @Operation({
    id: 'listAccounts',
    summary: 'List accounts',
    description: 'Returns all accounts, newest first.',
    query: {
      ...PAGING,
      suspended: { type: 'boolean', const: true, description: 'Only accounts that are suspended.' },
    },
    response: { description: 'A page of accounts.', body: pageModel(OPERATORS_ACCOUNT) },
  })
  async list(@Query() query: Record<string, unknown>): Promise<PageView<object>> {
    const find = (page: Page & AccountFilter) => this.accounts.list(page);
    return pageOf(readPage(query, 'acct', readFilter), find, ({ id }) => id, operatorsAccountView);
  }

  @Get(':id')
  @Operation({
    id: 'getAnyAccount',
    summary: 'Get any account',
    description: 'Returns an account with its plan, and whether it is suspended.',
    path: { id: ACCOUNT_ID },
    response: { description: 'The account.', body: OPERATORS_ACCOUNT },
    errors: ['account_not_found'],
  })
  async get(@Param('id') id: string): Promise<object> {
    return operatorsAccountView(await this.accounts.find(id, 'operator'));
  }

  @Patch(':id')
  @Operation({
    id: 'changeAccount',
    summary: 'Change, suspend or resume an account',
    description:
      'Takes effect everywhere within a second. Requests already counted in the current windows stay counted. While an account is suspended, its keys get 403 `account_suspended`, its messages are kept, and the built-in worker delivers none of them; deliveries that have started are finished.',
    path: { id: ACCOUNT_ID },
    response: { description: 'The changed account.', body: OPERATORS_ACCOUNT },
    errors: ['account_not_found'],
  })
  async change(
    @Param('id') id: string,
    @JsonBody(ChangeAccountBody) body: ChangeAccountBody,
    @CurrentOperator() operator: string,
  ): Promise<object> {
    const { plan = null, suspended = null } = body;
    const limits = body.limits ? { perMinute: body.limits.perMinute, perDay: body.limits.perDay } : null;
    const changes = { plan, limits, suspended, delivery: null };
    return this.audit.record(operator, async () => {
      const { before, after } = await this.changeAccount.execute(id, changes, 'operator');
      const changed = difference(auditedAccount(before), auditedAccount(after));
      const change = changed && { action: 'account.changed', subject: id, accountId: id, ...changed };
      return { result: operatorsAccountView(after), change };
    });
  }

  @Get(':id/api-keys')
  @Operation({
    id: 'listAnyApiKeys',
    summary: 'List the API keys of any account',
    description: 'Returns the active keys of an account, newest first, without their secrets.',
    path: { id: ACCOUNT_ID },
    query: PAGING,
    response: { description: 'A page of API keys.', body: API_KEY_PAGE },
    errors: ['account_not_found'],
  })
  async keys(@Param('id') id: string, @Query() query: Record<string, unknown>): Promise<PageView<object>> {
    const page = readPage(query, 'key');
    const account = await this.accounts.find(id, 'operator');
    const find = (page: Page) => this.accounts.keys(account.id, page, 'operator');
    return pageOf(page, find, (key) => key.id, apiKeyView);
  }

  @Post(':id/api-keys')
  @HttpCode(201)
  @Operation({
    id: 'createAnyApiKey',
    summary: 'Create an API key for any account',
    description: 'For an account that has lost its keys, or has none left that may do what it needs.',
    path: { id: ACCOUNT_ID },
    headers: REPEATABLE.headers,
    response: {
      description: 'The API key. Its secret is shown only once, but to requests that are repeated with their key.',
      body: ISSUED_KEY,
      headers: REPEATABLE.responseHeaders,
    },
    errors: ['account_not_found', 'too_many_keys', ...REPEATABLE.errors],
  })
  async create(
    @Param('id') id: string,
    @JsonBody(CreateApiKeyBody) body: CreateApiKeyBody,
    @CurrentOperator() operator: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const work = async () => {
      const account = await this.accounts.find(id, 'operator');
      const grantor = { accountId: account.id, scopes: SCOPES };
      const issued = await this.createKey.execute(grantor, newKeyOf(body), 'operator');
      const { id: subject, scopes, expiresAt } = issued.apiKey;
      const about = { action: 'api_key.created', subject, accountId: account.id };
      return { result: issuedKeyView(issued), change: { ...about, before: null, after: { scopes, expiresAt } } };
    };
    return this.repeats.atomically({ request, reply, body }, () => this.audit.record(operator, work));
  }

  @Delete(':id/api-keys/:keyId')
  @HttpCode(204)
  @Operation({
    id: 'revokeAnyApiKey',
    summary: 'Revoke an API key of any account',
    description: 'The key becomes invalid everywhere within a second, even if it is the last one of the account.',
    path: { id: ACCOUNT_ID, keyId: KEY_ID },
    headers: REPEATABLE.headers,
    response: { description: 'The key was revoked.', headers: REPEATABLE.responseHeaders },
    errors: ['account_not_found', 'api_key_not_found', ...REPEATABLE.errors],
  })
  async revoke(
    @Param('id') id: string,
    @Param('keyId') keyId: string,
    @CurrentOperator() operator: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const work = async () => {
      const account = await this.accounts.find(id, 'operator');
      await this.revokeKey.execute(account.id, keyId, 'operator');
      const about = { action: 'api_key.revoked', subject: keyId, accountId: account.id };
      return { result: undefined, change: { ...about, before: { revoked: false }, after: { revoked: true } } };
    };
    await this.repeats.atomically({ request, reply, body: null }, () => this.audit.record(operator, work));
  }
}

/** What audit entries have of an account: nothing that its owner wrote. */
function auditedAccount({ plan, limits, suspended }: Account) {
  return { plan, limits, suspended };
}

function readFilter({ suspended }: Record<string, unknown>, errors: FieldError[]): AccountFilter {
  if (suspended !== undefined && suspended !== 'true') {
    errors.push({ pointer: '', detail: 'suspended must be true. Omit it for all accounts.' });
  }
  return { onlySuspended: suspended === 'true' };
}
