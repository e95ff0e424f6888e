import { Controller, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { ArrayNotEmpty, IsArray, IsIn, IsInt, IsOptional, IsString, Max, Min } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ForOperators, Public } from '#platform/http/access/access.js';
import { CurrentOperator } from '#platform/http/access/caller.js';
import { REPEATABLE, Repeats } from '#platform/http/access/repeats.js';
import { JsonBody } from '#platform/http/body/json-body.js';
import { Field, Operation, Section } from '#platform/http/openapi/operation.js';
import { SETTINGS } from '#platform/process/platform.module.js';
import type { PlatformSettings } from '#platform/process/settings.js';
import { Audit } from '../../application/audit.js';
import { PortalLinks } from '../../application/portal-links.js';
import { SCOPES, type Scope } from '../../domain/api-key.js';
import { PORTAL_LINK_SECONDS } from '../../domain/portal-link.js';
import { ACCOUNT_ID, ISSUED_KEY, issuedKeyView, PORTAL_LINK, SCOPE, type PortalLinkView } from './views.js';

const { min, max } = PORTAL_LINK_SECONDS;

class CreatePortalLinkBody {
  @Field({ description: 'What the link allows.', examples: [['messages:read']], items: SCOPE })
  @IsIn(SCOPES, { each: true, message: `scopes must contain only ${SCOPES.join(', ')}.` })
  @ArrayNotEmpty({ message: 'scopes must have at least one item.' })
  @IsArray({ message: 'scopes must be an array.' })
  scopes!: Scope[];

  @Field({
    description: `After how many seconds the link expires, and the visitor is signed out. Defaults to ${PORTAL_LINK_SECONDS.initial}.`,
    examples: [900],
  })
  @IsOptional()
  @IsInt({ message: 'expiresInSeconds must be a whole number.' })
  @Min(min, { message: `expiresInSeconds must be at least ${min}.` })
  @Max(max, { message: `expiresInSeconds must be at most ${max}.` })
  expiresInSeconds?: number | null;
}

class OpenPortalLinkBody {
  @Field({ description: 'What follows `#link=` in the URL of the link.', examples: ['slp_7k2m'] })
  @IsString({ message: 'token must be a string.' })
  token!: string;
}

@Section('Operators')
@ForOperators()
@Controller('admin/accounts/:id/portal-links')
export class PortalLinksController {
  private readonly publicUrl: string | null;

  constructor(
    private readonly links: PortalLinks,
    private readonly audit: Audit,
    private readonly repeats: Repeats,
    @Inject(SETTINGS) { http }: PlatformSettings,
  ) {
    this.publicUrl = http.publicUrl;
  }

  @Post()
  @HttpCode(201)
  @Operation({
    id: 'createPortalLink',
    summary: 'Create a link to the portal',
    description:
      'For a customer who has no key. The link can be opened once. It is an API key of the account, listed as ' +
      '"Portal link": revoking it ends the link, or the session of whoever has opened it.',
    path: { id: ACCOUNT_ID },
    headers: REPEATABLE.headers,
    response: { description: 'The link.', body: PORTAL_LINK, headers: REPEATABLE.responseHeaders },
    errors: ['account_not_found', 'too_many_keys', ...REPEATABLE.errors],
  })
  async create(
    @Param('id') accountId: string,
    @JsonBody(CreatePortalLinkBody) body: CreatePortalLinkBody,
    @CurrentOperator() operator: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PortalLinkView> {
    const work = async () => {
      const seconds = body.expiresInSeconds ?? PORTAL_LINK_SECONDS.initial;
      const { apiKey, key } = await this.links.create(accountId, [...new Set(body.scopes)], seconds);
      const { id, scopes, expiresAt } = apiKey;
      const url = `${this.publicUrl ?? `http://${request.host}`}/#link=${key}`;
      const about = { action: 'portal_link.created', subject: id, accountId };
      return {
        result: { id, url, scopes, expiresAt },
        change: { ...about, before: null, after: { scopes, expiresAt } },
      };
    };
    return this.repeats.atomically({ request, reply, body }, () => this.audit.record(operator, work));
  }
}

@Section('API keys')
@Controller('portal-links')
export class OpenedLinksController {
  constructor(private readonly links: PortalLinks) {}

  @Public()
  @Post('open')
  @HttpCode(201)
  @Operation({
    id: 'openPortalLink',
    summary: 'Exchange a link to the portal for an API key',
    description: 'What the portal does with a link. The key has the scopes and the expiry of the link.',
    response: { description: 'The API key, which is shown only once.', body: ISSUED_KEY },
    errors: ['portal_link_not_found', 'account_suspended'],
  })
  async open(@JsonBody(OpenPortalLinkBody) { token }: OpenPortalLinkBody): Promise<object> {
    return issuedKeyView(await this.links.open(token));
  }
}
