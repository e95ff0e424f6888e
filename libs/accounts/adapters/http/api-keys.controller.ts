import { Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import {
  ArrayNotEmpty,
  IsArray,
  IsIn,
  IsInt,
  IsISO8601,
  IsOptional,
  IsRFC3339,
  IsString,
  Max,
  Min,
} from 'class-validator';
import { Scoped } from '#platform/http/access.js';
import { CurrentCaller, type Caller } from '#platform/http/caller.js';
import { JsonBody, OptionalJsonBody } from '#platform/http/json-body.js';
import { pageOf, readPage, type PageView } from '#platform/http/paging.js';
import { CreateApiKey, ListApiKeys, RevokeApiKey, RotateApiKey } from '../../application/api-keys.js';
import { SCOPES, type ApiKey, type Scope } from '../../domain/api-key.js';
import { apiKeyView, issuedKeyView } from './views.js';

const A_TIME = { message: 'expiresAt must be a time like 2030-01-31T12:00:00Z.' };
const MAX_GRACE_SECONDS = 30 * 86_400;

class CreateApiKeyBody {
  @IsString({ message: 'name must be a string.' })
  name!: string;

  @IsOptional()
  @IsArray({ message: 'scopes must be an array.' })
  @ArrayNotEmpty({ message: 'scopes must name at least one; leave it out for all that your own key has.' })
  @IsIn(SCOPES, { each: true, message: `scopes must be some of ${SCOPES.join(', ')}.` })
  scopes?: Scope[] | null;

  @IsOptional()
  // The one knows the days of each month, the other leaves out what JavaScript can't read or reads as local time.
  @IsISO8601({ strict: true, strictSeparator: true }, A_TIME)
  @IsRFC3339(A_TIME)
  expiresAt?: string | null;
}

class RotateApiKeyBody {
  @IsOptional()
  @IsInt({ message: 'graceSeconds must be a whole number.' })
  @Min(0, { message: 'graceSeconds must not be negative.' })
  @Max(MAX_GRACE_SECONDS, { message: `graceSeconds must be at most ${MAX_GRACE_SECONDS}.` })
  graceSeconds?: number | null;
}

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
  async rotate(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @OptionalJsonBody(RotateApiKeyBody) { graceSeconds }: RotateApiKeyBody,
  ): Promise<object> {
    return issuedKeyView(await this.rotateKey.execute(caller, id, graceSeconds ?? 0));
  }

  @Delete(':id')
  @HttpCode(204)
  async revoke(@CurrentCaller() { accountId }: Caller, @Param('id') id: string): Promise<void> {
    await this.revokeKey.execute(accountId, id);
  }
}
