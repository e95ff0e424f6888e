import { Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ArrayNotEmpty, IsArray, IsIn, IsInt, IsOptional, IsString, Max, Min, Validate } from 'class-validator';
import { Scoped } from '#platform/http/access.js';
import { CurrentCaller, type Caller } from '#platform/http/caller.js';
import { JsonBody, OptionalJsonBody } from '#platform/http/json-body.js';
import { Field, Operation, Section } from '#platform/http/openapi/operation.js';
import { pageModel, pageOf, PAGING, readPage, type PageView } from '#platform/http/paging.js';
import { Time } from '#platform/http/time.js';
import { CreateApiKey, ListApiKeys, RevokeApiKey, RotateApiKey } from '../../application/api-keys.js';
import { MAX_NAME_LENGTH } from '../../domain/account.js';
import { MAX_KEYS, SCOPES, type ApiKey, type Scope } from '../../domain/api-key.js';
import { API_KEY, apiKeyView, ISSUED_KEY, issuedKeyView, KEY_ID } from './views.js';

const MAX_GRACE_SECONDS = 30 * 86_400;

class CreateApiKeyBody {
  @Field({
    description: `What the key is for: 1 to ${MAX_NAME_LENGTH} characters that are not all blank.`,
    examples: ['billing'],
    ...{ minLength: 1, maxLength: MAX_NAME_LENGTH },
  })
  @IsString({ message: 'name must be a string.' })
  name!: string;

  @Field({
    description: 'Some of the scopes of the key that asks; left out, all of those.',
    examples: [['messages:send']],
  })
  @IsOptional()
  @IsArray({ message: 'scopes must be an array.' })
  @ArrayNotEmpty({ message: 'scopes must name at least one; leave it out for all that your own key has.' })
  @IsIn(SCOPES, { each: true, message: `scopes must be some of ${SCOPES.join(', ')}.` })
  scopes?: Scope[] | null;

  @Field({
    description: 'When the key is to stop working, in the future; left out, never.',
    examples: ['2030-01-31T12:00:00Z'],
  })
  @IsOptional()
  @Validate(Time)
  expiresAt?: string | null;
}

class RotateApiKeyBody {
  @Field({ description: 'Seconds for which the old key goes on working; left out, 0.', examples: [3_600] })
  @IsOptional()
  @IsInt({ message: 'graceSeconds must be a whole number.' })
  @Min(0, { message: 'graceSeconds must not be negative.' })
  @Max(MAX_GRACE_SECONDS, { message: `graceSeconds must be at most ${MAX_GRACE_SECONDS}.` })
  graceSeconds?: number | null;
}

@Section('API keys', 'Make, rotate and revoke the keys of the account.')
@Scoped('account:manage')
@Controller('api-keys')
export class ApiKeysController {
  constructor(
    private readonly listKeys: ListApiKeys,
    private readonly createKey: CreateApiKey,
    private readonly rotateKey: RotateApiKey,
    private readonly revokeKey: RevokeApiKey,
  ) {}

  @Get()
  @Operation({
    id: 'listApiKeys',
    summary: 'List API keys',
    description: 'The live keys of the account, newest first, without the keys themselves.',
    query: PAGING,
    answer: { description: 'A page of keys.', body: pageModel(API_KEY) },
  })
  async list(
    @CurrentCaller() { accountId }: Caller,
    @Query() query: Record<string, unknown>,
  ): Promise<PageView<object>> {
    const { limit, before } = readPage(query, 'key');
    const keys = await this.listKeys.execute(accountId, { limit: limit + 1, before });
    return pageOf(keys, limit, ({ id }: ApiKey) => id, apiKeyView);
  }

  @Post()
  @HttpCode(201)
  @Operation({
    id: 'createApiKey',
    summary: 'Create an API key',
    description: `An account has at most ${MAX_KEYS} live keys.`,
    answer: { description: 'The key, in the clear this once.', body: ISSUED_KEY },
    problems: ['too_many_keys'],
  })
  async create(@CurrentCaller() caller: Caller, @JsonBody(CreateApiKeyBody) body: CreateApiKeyBody): Promise<object> {
    const { name, scopes = null, expiresAt = null } = body;
    const wish = {
      name,
      scopes: scopes === null ? null : [...new Set(scopes)],
      expiresAt: expiresAt === null ? null : new Date(expiresAt),
    };
    return issuedKeyView(await this.createKey.execute(caller, wish));
  }

  @Post(':id/rotate')
  @HttpCode(201)
  @Operation({
    id: 'rotateApiKey',
    summary: 'Rotate an API key',
    description: 'Issues a key in the place of another: a new id and secret, the same name, scopes and expiry.',
    path: { id: KEY_ID },
    answer: { description: 'The new key, in the clear this once.', body: ISSUED_KEY },
    problems: ['api_key_not_found', 'too_many_keys'],
  })
  async rotate(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @OptionalJsonBody(RotateApiKeyBody) { graceSeconds }: RotateApiKeyBody,
  ): Promise<object> {
    return issuedKeyView(await this.rotateKey.execute(caller, id, graceSeconds ?? 0));
  }

  @Delete(':id')
  @HttpCode(204)
  @Operation({
    id: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: 'The key stops working everywhere within a second.',
    path: { id: KEY_ID },
    answer: { description: 'The key is revoked.' },
    problems: ['api_key_not_found'],
  })
  async revoke(@CurrentCaller() { accountId }: Caller, @Param('id') id: string): Promise<void> {
    await this.revokeKey.execute(accountId, id);
  }
}
