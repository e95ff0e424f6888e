import { Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  ArrayNotEmpty,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  Min,
  Validate,
  ValidateIf,
} from 'class-validator';
import type { Page } from '#kernel/page.js';
import { ForCallers, Scoped } from '#platform/http/access/access.js';
import type { FastifyRequest } from 'fastify';
import { CurrentCaller } from '#platform/http/access/caller.js';
import type { Caller } from '#kernel/caller.js';
import { JsonBody, OptionalJsonBody } from '#platform/http/body/json-body.js';
import { Field, Operation, Section } from '#platform/http/openapi/operation.js';
import { pageOf, PAGING, readPage, type PageView } from '#platform/http/body/paging.js';
import { Time } from '#platform/http/body/time.js';
import { CreateApiKey } from '../../application/create-api-key.js';
import type { FastifyReply } from 'fastify';
import { REPEATABLE, Repeats } from '#platform/http/access/repeats.js';
import { type NewApiKey } from '../../application/create-api-key.js';
import { ReadAccounts } from '../../application/read-accounts.js';
import { RevokeApiKey } from '../../application/revoke-api-key.js';
import { RotateApiKey } from '../../application/rotate-api-key.js';
import { MAX_NAME_LENGTH } from '../../domain/account.js';
import { MAX_GRACE_SECONDS, MAX_KEYS, SCOPES, type Scope } from '../../domain/api-key.js';
import { API_KEY, API_KEY_PAGE, apiKeyView, ISSUED_KEY, issuedKeyView, KEY_ID, NAME_RULES, SCOPE } from './views.js';

export class CreateApiKeyBody {
  @Field({
    description: `The purpose of the key: 1 to ${MAX_NAME_LENGTH} characters, not only whitespace.`,
    examples: ['billing'],
    ...NAME_RULES,
  })
  @IsString({ message: 'name must be a string.' })
  name!: string;

  @Field({
    description:
      'A subset of the scopes of the key that makes the request, or of all for operators. Defaults to all of them.',
    examples: [['messages:send']],
    items: SCOPE,
  })
  // Null, as of a variable that was not set, must not mean all.
  @ValidateIf((_body, scopes) => scopes !== undefined)
  @IsIn(SCOPES, { each: true, message: `scopes must contain only ${SCOPES.join(', ')}.` })
  @ArrayNotEmpty({ message: 'scopes must have at least one item. Omit it for all scopes of your own key.' })
  @IsArray({ message: 'scopes must be an array.' })
  scopes?: Scope[];

  @Field({
    description: 'When the key expires, in the future. Never if omitted.',
    examples: ['2030-01-31T12:00:00Z'],
  })
  @IsOptional()
  @Validate(Time)
  expiresAt?: string | null;
}

export function newKeyOf({ name, scopes, expiresAt = null }: CreateApiKeyBody): NewApiKey {
  return {
    name,
    scopes: scopes === undefined ? null : [...new Set(scopes)],
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  };
}

class RotateApiKeyBody {
  @Field({ description: 'Seconds for which the old key remains valid. Defaults to 0.', examples: [3_600] })
  @IsOptional()
  @IsInt({ message: 'graceSeconds must be a whole number.' })
  @Min(0, { message: 'graceSeconds must not be negative.' })
  @Max(MAX_GRACE_SECONDS, { message: `graceSeconds must be at most ${MAX_GRACE_SECONDS}.` })
  graceSeconds?: number | null;
}

@Section('API keys')
@Scoped('account:manage')
@Controller('api-keys')
export class ApiKeysController {
  constructor(
    private readonly accounts: ReadAccounts,
    private readonly createKey: CreateApiKey,
    private readonly rotateKey: RotateApiKey,
    private readonly revokeKey: RevokeApiKey,
    private readonly repeats: Repeats,
  ) {}

  @Get()
  @Operation({
    id: 'listApiKeys',
    summary: 'List API keys',
    description: 'Returns the active keys of the account, newest first, without their secrets.',
    query: PAGING,
    response: { description: 'A page of API keys.', body: API_KEY_PAGE },
  })
  async list(
    @CurrentCaller() { accountId }: Caller,
    @Query() query: Record<string, unknown>,
  ): Promise<PageView<object>> {
    const find = (page: Page) => this.accounts.keys(accountId, page, 'account');
    return pageOf(readPage(query, 'key'), find, ({ id }) => id, apiKeyView);
  }

  @ForCallers()
  @Get('current')
  @Operation({
    id: 'getOwnApiKey',
    summary: 'Get the API key of the request',
    description: 'Returns what the key that makes this request may do. Requires no scope.',
    response: { description: 'The API key, without its secret.', body: API_KEY },
  })
  async current(@Req() { presentedKey = '' }: FastifyRequest): Promise<object> {
    return apiKeyView(await this.accounts.ownKey(presentedKey));
  }

  @Post()
  @HttpCode(201)
  @Operation({
    id: 'createApiKey',
    summary: 'Create an API key',
    description: `An account can have at most ${MAX_KEYS} active keys.`,
    headers: REPEATABLE.headers,
    response: {
      description: 'The API key. Its secret is shown only once, but to requests that are repeated with their key.',
      body: ISSUED_KEY,
      headers: REPEATABLE.responseHeaders,
      links: ['rotateApiKey', 'revokeApiKey'],
    },
    errors: ['too_many_keys', ...REPEATABLE.errors],
  })
  async create(
    @CurrentCaller() caller: Caller,
    @JsonBody(CreateApiKeyBody) body: CreateApiKeyBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    return this.repeats.atomically({ request, reply, body }, async () =>
      issuedKeyView(await this.createKey.execute(caller, newKeyOf(body))),
    );
  }

  @Post(':id/rotate')
  @HttpCode(201)
  @Operation({
    id: 'rotateApiKey',
    summary: 'Rotate an API key',
    description:
      'Replaces a key by a new one with the same name, scopes and expiry, but a new id and secret. A key that rotates ' +
      'itself should have a grace: with it, the request can be repeated if its response is lost.',
    path: { id: KEY_ID },
    headers: REPEATABLE.headers,
    response: {
      description: 'The new API key. Its secret is shown only once, but to requests that are repeated with their key.',
      body: ISSUED_KEY,
      headers: REPEATABLE.responseHeaders,
    },
    errors: ['api_key_not_found', 'too_many_keys', ...REPEATABLE.errors],
  })
  async rotate(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @OptionalJsonBody(RotateApiKeyBody) body: RotateApiKeyBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    return this.repeats.atomically({ request, reply, body }, async () =>
      issuedKeyView(await this.rotateKey.execute(caller, id, body.graceSeconds ?? 0)),
    );
  }

  @Delete(':id')
  @HttpCode(204)
  @Operation({
    id: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: 'The key becomes invalid everywhere within a second.',
    path: { id: KEY_ID },
    headers: REPEATABLE.headers,
    response: { description: 'The key was revoked.', headers: REPEATABLE.responseHeaders },
    errors: ['api_key_not_found', ...REPEATABLE.errors],
  })
  async revoke(
    @CurrentCaller() { accountId }: Caller,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    await this.repeats.atomically({ request, reply, body: null }, () =>
      this.revokeKey.execute(accountId, id, 'account'),
    );
  }
}
