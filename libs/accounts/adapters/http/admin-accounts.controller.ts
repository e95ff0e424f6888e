import { Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FieldError } from '#kernel/domain-error.js';
import type { Page } from '#kernel/page.js';
import { isLongerThan, isStorable } from '#kernel/text.js';
import { ForOperators } from '#platform/http/access/access.js';
import { CurrentOperator } from '#platform/http/access/caller.js';
import { JsonBody } from '#platform/http/body/json-body.js';
import { Operation, Section } from '#platform/http/openapi/operation.js';
import { pageModel, pageOf, PAGING, readPage, type PageView } from '#platform/http/body/paging.js';
import { REPEATABLE, Repeats } from '#platform/http/access/repeats.js';
import type { AccountFilter } from '../../application/accounts.js';
import { Audit, difference } from '../../application/audit.js';
import { ChangeAccount } from '../../application/change-account.js';
import { CreateApiKey } from '../../application/create-api-key.js';
import { ReadAccounts } from '../../application/read-accounts.js';
import { RevokeApiKey } from '../../application/revoke-api-key.js';
import { DeleteAccount } from '../../application/delete-account.js';
import { SignUp } from '../../application/sign-up.js';
import { EXTERNAL_ID, externalIdError, MAX_NAME_LENGTH } from '../../domain/account.js';
import { SCOPES } from '../../domain/api-key.js';
import { ChangeAccountBody, changesOf, choicesOf, CreateAccountBody } from './admin-account-bodies.js';
import type { Account } from '../../domain/account.js';
import { CreateApiKeyBody, newKeyOf } from './api-keys.controller.js';
import {
  ACCOUNT_ID,
  API_KEY_PAGE,
  apiKeyView,
  CREATED_ACCOUNT,
  createdAccountView,
  DELETION,
  deletionView,
  ISSUED_KEY,
  issuedKeyView,
  KEY_ID,
  OPERATORS_ACCOUNT,
  operatorsAccountView,
} from './views.js';

@Section('Operators')
@ForOperators()
@Controller('admin/accounts')
export class AdminAccountsController {
  constructor(
    private readonly accounts: ReadAccounts,
    private readonly signUp: SignUp,
    private readonly changeAccount: ChangeAccount,
    private readonly deleteAccount: DeleteAccount,
    private readonly createKey: CreateApiKey,
    private readonly revokeKey: RevokeApiKey,
    private readonly audit: Audit,
    private readonly repeats: Repeats,
  ) {}

  @Get()
  @Operation({
    id: 'listAccounts',
    summary: 'List accounts',
    description: 'Returns all accounts, newest first. Several filters narrow the list together.',
    query: {
      ...PAGING,
      suspended: { type: 'boolean', const: true, description: 'Only accounts that are suspended.' },
      name: {
        type: 'string',
        minLength: 1,
        maxLength: MAX_NAME_LENGTH,
        description: 'Only accounts whose name contains this text, in upper or lower case.',
      },
      externalId: {
        type: 'string',
        pattern: EXTERNAL_ID.source,
        description: 'Only the account with this `externalId`.',
      },
    },
    response: { description: 'A page of accounts.', body: pageModel(OPERATORS_ACCOUNT) },
  })
  async list(@Query() query: Record<string, unknown>): Promise<PageView<object>> {
    const find = (page: Page & AccountFilter) => this.accounts.list(page);
    return pageOf(readPage(query, 'acct', readFilter), find, ({ id }) => id, operatorsAccountView);
  }

  @Post()
  @HttpCode(201)
  @Operation({
    id: 'createAccount',
    summary: 'Create an account for a customer',
    description:
      'Creates an account and its first API key, which has all scopes, as a sign-up does, also while sign-up is closed.',
    headers: REPEATABLE.headers,
    response: {
      description: 'The account with its API key, which is shown only once, but to requests repeated with their key.',
      body: CREATED_ACCOUNT,
      headers: REPEATABLE.responseHeaders,
    },
    errors: ['external_id_taken', ...REPEATABLE.errors],
  })
  async add(
    @JsonBody(CreateAccountBody) body: CreateAccountBody,
    @CurrentOperator() operator: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const work = async () => {
      const created = await this.signUp.execute(body.name, choicesOf(body));
      const { id: subject } = created.account;
      const about = { action: 'account.created', subject, accountId: subject };
      const change = { ...about, before: null, after: auditedAccount(created.account) };
      return { result: createdAccountView(created), change };
    };
    return this.repeats.atomically({ request, reply, body }, () => this.audit.record(operator, work));
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
    summary: 'Change, rename, suspend, pause or resume an account',
    description:
      'Takes effect everywhere within a second. Requests already counted in the current windows stay counted. While an account is suspended, its keys get 403 `account_suspended`, its messages are kept, and the built-in worker delivers none of them; deliveries that have started are finished. `paused` is what the account itself can change with `PATCH /account`. Fields that are omitted or null stay as they are, but for `externalId`, which null removes.',
    path: { id: ACCOUNT_ID },
    response: { description: 'The changed account.', body: OPERATORS_ACCOUNT },
    errors: ['account_not_found', 'external_id_taken'],
  })
  async change(
    @Param('id') id: string,
    @JsonBody(ChangeAccountBody) body: ChangeAccountBody,
    @CurrentOperator() operator: string,
  ): Promise<object> {
    return this.audit.record(operator, async () => {
      const { before, after } = await this.changeAccount.execute(id, changesOf(body), 'operator');
      const changed = difference(
        { ...auditedAccount(before), renamed: false, externalIdChanged: false },
        {
          ...auditedAccount(after),
          renamed: after.name !== before.name,
          externalIdChanged: after.externalId !== before.externalId,
        },
      );
      const change = changed && { action: 'account.changed', subject: id, accountId: id, ...changed };
      return { result: operatorsAccountView(after), change };
    });
  }

  @Delete(':id')
  @HttpCode(202)
  @Operation({
    id: 'deleteAccount',
    summary: 'Delete an account with all its data',
    description:
      'Cannot be undone. Within a second, all keys of the account are unknown, nothing more of it is delivered, and its ' +
      'event streams end; deliveries that have started are finished. Its messages, keys, endpoints and names are then ' +
      'removed in the background. The response is the same when the account is deleted again.',
    path: { id: ACCOUNT_ID },
    headers: REPEATABLE.headers,
    response: {
      description: 'The account is deleted, and its data is being removed.',
      body: DELETION,
      headers: REPEATABLE.responseHeaders,
    },
    errors: ['account_not_found', ...REPEATABLE.errors],
  })
  async remove(
    @Param('id') id: string,
    @CurrentOperator() operator: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const work = async () => {
      const deletion = await this.deleteAccount.execute(id);
      const about = { action: 'account.deleted', subject: id, accountId: id };
      const change = deletion.isNew ? { ...about, before: { deleted: false }, after: { deleted: true } } : null;
      return { result: deletionView(deletion), change };
    };
    return this.repeats.atomically({ request, reply, body: null }, () => this.audit.record(operator, work));
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

/** What audit entries, which outlast a deletion, have of an account: no name, and nothing that its owner wrote. */
function auditedAccount({ plan, limits, suspended, paused }: Account) {
  return { plan, limits, suspended, paused };
}

function readFilter(query: Record<string, unknown>, errors: FieldError[]): AccountFilter {
  const { suspended, name, externalId } = query;
  if (suspended !== undefined && suspended !== 'true') {
    errors.push({ pointer: '', detail: 'suspended must be true. Omit it for all accounts.' });
  }
  const isName = typeof name === 'string' && name !== '' && !isLongerThan(name, MAX_NAME_LENGTH) && isStorable(name);
  if (name !== undefined && !isName) {
    errors.push({
      pointer: '',
      detail: `name must have 1 to ${MAX_NAME_LENGTH} characters. Omit it for all accounts.`,
    });
  }
  const externalIdFault = externalId === undefined ? null : externalIdError(externalId);
  if (externalIdFault !== null) errors.push({ pointer: '', detail: externalIdFault });
  return {
    onlySuspended: suspended === 'true',
    name: isName ? name : undefined,
    externalId: externalId as string | undefined,
  };
}
