import { Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import { IsBoolean, IsInt, IsOptional, IsString, Max, Min, Validate } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Page } from '#kernel/page.js';
import { Scoped } from '#platform/http/access/access.js';
import { CurrentCaller } from '#platform/http/access/caller.js';
import type { Caller } from '#kernel/caller.js';
import { goneSignal } from '#platform/http/edge/connections.js';
import { JsonBody, OptionalJsonBody } from '#platform/http/body/json-body.js';
import { Field, header, Operation, Section } from '#platform/http/openapi/operation.js';
import { Time } from '#platform/http/body/time.js';
import { pageOf, PAGING, readPage, type PageView } from '#platform/http/body/paging.js';
import { REPEATABLE, Repeats } from '#platform/http/access/repeats.js';
import { ChangeEndpoint } from '../../application/change-endpoint.js';
import { CreateEndpoint } from '../../application/create-endpoint.js';
import { DeleteEndpoint } from '../../application/delete-endpoint.js';
import { MAX_REPLAYED, REPLAYED_PER_SECOND, ReplayEndpoint } from '../../application/replay-endpoint.js';
import { ReadEndpoints } from '../../application/read-endpoints.js';
import { RotateSecret } from '../../application/rotate-secret.js';
import { MAX_TESTS, TestEndpoint } from '../../application/test-endpoint.js';
import {
  MAX_DESCRIPTION_LENGTH,
  MAX_ENDPOINTS,
  MAX_GRACE_SECONDS,
  MAX_RATE_LIMIT,
  MAX_URL_LENGTH,
} from '../../domain/endpoint.js';
import {
  ENDPOINT,
  ENDPOINT_ID,
  ENDPOINT_PAGE,
  endpointView,
  ISSUED_ENDPOINT,
  ISSUED_SECRET,
  issuedEndpointView,
  issuedSecretView,
  REPLAYED,
  replayedView,
  TEST_RESULT,
} from './views.js';
import { WebhooksEnabledGuard } from './webhooks-enabled.guard.js';

const LOCATION = header('The path of the endpoint.', {
  type: 'string',
  format: 'uri-reference',
  examples: ['/endpoints/ep_01h455vb4pex5vsknk084sn02q'],
});

const URL_FIELD = {
  description:
    'Where messages are posted: `https` or `http`, without user name and password. Its host must be public: requests to ' +
    'private addresses are never sent.',
  examples: ['https://example.com/hooks'],
  maxLength: MAX_URL_LENGTH,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?:[^\\s#]+$',
};

class EndpointSettings {
  @Field({
    description: `What it is for: at most ${MAX_DESCRIPTION_LENGTH} characters.`,
    examples: ['orders'],
    maxLength: MAX_DESCRIPTION_LENGTH,
    pattern: '^[^\\u0000]*$',
  })
  @IsOptional()
  @IsString({ message: 'description must be a string.' })
  description?: string | null;

  @Field({ description: 'Whether it gets new messages. A new endpoint does by default.', examples: [true] })
  @IsOptional()
  @IsBoolean({ message: 'enabled must be true or false.' })
  enabled?: boolean | null;

  @Field({
    description: 'The maximum number of requests per second. 0 for no limit, the default.',
    examples: [100],
  })
  @IsOptional()
  @IsInt({ message: 'rateLimitPerSecond must be a whole number.' })
  @Min(0, { message: 'rateLimitPerSecond must not be negative.' })
  @Max(MAX_RATE_LIMIT, { message: `rateLimitPerSecond must be at most ${MAX_RATE_LIMIT}.` })
  rateLimitPerSecond?: number | null;
}

class CreateEndpointBody extends EndpointSettings {
  @Field(URL_FIELD)
  @IsString({ message: 'url must be a string.' })
  url!: string;
}

class ChangeEndpointBody extends EndpointSettings {
  @Field(URL_FIELD)
  @IsOptional()
  @IsString({ message: 'url must be a string.' })
  url?: string | null;
}

class RotateSecretBody {
  @Field({
    description: 'Seconds for which the old secret signs as well, so that receivers can change theirs. Defaults to 0.',
    examples: [86_400],
  })
  @IsOptional()
  @IsInt({ message: 'graceSeconds must be a whole number.' })
  @Min(0, { message: 'graceSeconds must not be negative.' })
  @Max(MAX_GRACE_SECONDS, { message: `graceSeconds must be at most ${MAX_GRACE_SECONDS}.` })
  graceSeconds?: number | null;
}

class ReplayBody {
  @Field({ description: 'The start of the period, inclusive.', examples: ['2026-11-21T09:00:00Z'] })
  @Validate(Time)
  since!: string;

  @Field({ description: 'The end of the period, exclusive. Defaults to now.', examples: ['2026-11-21T10:00:00Z'] })
  @IsOptional()
  @Validate(Time)
  until?: string | null;
}

@Section('Webhooks')
@Scoped('account:manage')
@UseGuards(WebhooksEnabledGuard)
@Controller('endpoints')
export class EndpointsController {
  constructor(
    private readonly createEndpoint: CreateEndpoint,
    private readonly endpoints: ReadEndpoints,
    private readonly changeEndpoint: ChangeEndpoint,
    private readonly deleteEndpoint: DeleteEndpoint,
    private readonly rotateSecret: RotateSecret,
    private readonly testEndpoint: TestEndpoint,
    private readonly replayEndpoint: ReplayEndpoint,
    private readonly repeats: Repeats,
  ) {}

  @Post()
  @HttpCode(201)
  @Operation({
    id: 'createEndpoint',
    summary: 'Create an endpoint',
    description:
      'Messages that are accepted from now on are also posted to this URL, if the account delivers by webhooks. An ' +
      `account can have at most ${MAX_ENDPOINTS} endpoints unless its plan states another number, each with a URL of its own.`,
    headers: REPEATABLE.headers,
    response: {
      description: 'The endpoint. Its secret is shown only once, but to requests that are repeated with their key.',
      body: ISSUED_ENDPOINT,
      headers: { Location: LOCATION, ...REPEATABLE.responseHeaders },
      links: ['getEndpoint', 'changeEndpoint', 'deleteEndpoint', 'rotateSecret', 'testEndpoint', 'replayEndpoint'],
    },
    errors: ['too_many_endpoints', 'webhooks_disabled', ...REPEATABLE.errors],
  })
  async create(
    @CurrentCaller() { accountId }: Caller,
    @JsonBody(CreateEndpointBody) body: CreateEndpointBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const { url, description, enabled, rateLimitPerSecond } = body;
    const input = {
      url,
      description: description ?? '',
      enabled: enabled ?? true,
      rateLimitPerSecond: rateLimitPerSecond ?? 0,
    };
    return this.repeats.atomically({ request, reply, body }, async () => {
      const issued = await this.createEndpoint.execute(accountId, input);
      void reply.header('location', `/endpoints/${issued.endpoint.id}`);
      return issuedEndpointView(issued);
    });
  }

  @Get()
  @Operation({
    id: 'listEndpoints',
    summary: 'List endpoints',
    description: 'Returns the endpoints of the account, newest first, without their secrets.',
    query: PAGING,
    response: { description: 'A page of endpoints.', body: ENDPOINT_PAGE },
    errors: ['webhooks_disabled'],
  })
  async list(
    @CurrentCaller() { accountId }: Caller,
    @Query() query: Record<string, unknown>,
  ): Promise<PageView<object>> {
    const find = (page: Page) => this.endpoints.list(accountId, page);
    return pageOf(readPage(query, 'ep'), find, ({ id }) => id, endpointView);
  }

  @Get(':id')
  @Operation({
    id: 'getEndpoint',
    summary: 'Get an endpoint',
    description: 'Returns the endpoint without its secret, and why it is disabled if it is.',
    path: { id: ENDPOINT_ID },
    response: { description: 'The endpoint, without its secret.', body: ENDPOINT },
    errors: ['endpoint_not_found', 'webhooks_disabled'],
  })
  async get(@CurrentCaller() { accountId }: Caller, @Param('id') id: string): Promise<object> {
    return endpointView(await this.endpoints.find(accountId, id));
  }

  @Patch(':id')
  @Operation({
    id: 'changeEndpoint',
    summary: 'Change an endpoint',
    description:
      'Fields that are omitted stay as they are. To pause an endpoint, disable it: messages that are accepted meanwhile ' +
      'are not posted to it, and what waits for it is not either. That does not count against messages that others get.',
    path: { id: ENDPOINT_ID },
    response: { description: 'The endpoint with its new state.', body: ENDPOINT },
    errors: ['endpoint_not_found', 'webhooks_disabled'],
  })
  async change(
    @CurrentCaller() { accountId }: Caller,
    @Param('id') id: string,
    @JsonBody(ChangeEndpointBody) body: ChangeEndpointBody,
  ): Promise<object> {
    const { url = null, description = null, enabled = null, rateLimitPerSecond = null } = body;
    const changes = { url, description, enabled, rateLimitPerSecond };
    return endpointView(await this.changeEndpoint.execute(accountId, id, changes));
  }

  @Delete(':id')
  @HttpCode(204)
  @Operation({
    id: 'deleteEndpoint',
    summary: 'Delete an endpoint',
    description: 'What still waits for it is not posted, which does not count against messages that others get.',
    path: { id: ENDPOINT_ID },
    headers: REPEATABLE.headers,
    response: { description: 'The endpoint was deleted.', headers: REPEATABLE.responseHeaders },
    errors: ['endpoint_not_found', 'webhooks_disabled', ...REPEATABLE.errors],
  })
  async delete(
    @CurrentCaller() { accountId }: Caller,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    await this.repeats.atomically({ request, reply, body: null }, () => this.deleteEndpoint.execute(accountId, id));
  }

  @Post(':id/rotate-secret')
  @HttpCode(200)
  @Operation({
    id: 'rotateSecret',
    summary: 'Rotate the secret of an endpoint',
    description:
      'Requests are signed with the new secret within a second, and with the old one as well during the grace: with the ' +
      'five newest secrets at most.',
    path: { id: ENDPOINT_ID },
    headers: REPEATABLE.headers,
    response: {
      description: 'The new secret, which is shown only once, but to requests that are repeated with their key.',
      body: ISSUED_SECRET,
      headers: REPEATABLE.responseHeaders,
    },
    errors: ['endpoint_not_found', 'webhooks_disabled', ...REPEATABLE.errors],
  })
  async rotate(
    @CurrentCaller() { accountId }: Caller,
    @Param('id') id: string,
    @OptionalJsonBody(RotateSecretBody) body: RotateSecretBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    return this.repeats.atomically({ request, reply, body }, async () =>
      issuedSecretView(await this.rotateSecret.execute(accountId, id, body.graceSeconds ?? 0)),
    );
  }

  @Post(':id/test')
  @HttpCode(200)
  @Operation({
    id: 'testEndpoint',
    summary: 'Test an endpoint',
    description:
      'Posts a signed test to the endpoint, of the type `test` instead of `message`, and returns what it answered. ' +
      'Nothing is stored, and a failure has no effect. It counts against the rate of the endpoint. At most ' +
      `${MAX_TESTS} tests of an account run at the same time in each process: more get 503 with \`Retry-After\`.`,
    path: { id: ENDPOINT_ID },
    response: { description: 'What the endpoint answered.', body: TEST_RESULT },
    errors: ['endpoint_not_found', 'webhooks_disabled'],
  })
  async test(@CurrentCaller() { accountId }: Caller, @Param('id') id: string): Promise<object> {
    return this.testEndpoint.execute(accountId, id);
  }

  @Post(':id/replay')
  @HttpCode(202)
  @Operation({
    id: 'replayEndpoint',
    summary: 'Replay messages to an endpoint',
    description:
      'Posts the messages of a period to the endpoint that it has not got, because it failed, was disabled or did not exist ' +
      'yet: at most about ' +
      `${MAX_REPLAYED}, so many in each second as the rate of the endpoint allows, or else ${REPLAYED_PER_SECOND}. ` +
      'Repeat it for more. ' +
      `Failed messages are retried for this endpoint; delivered ones stay delivered. Cancelled ones are not posted.`,
    path: { id: ENDPOINT_ID },
    headers: REPEATABLE.headers,
    response: {
      description: 'How many messages will be posted.',
      body: REPLAYED,
      headers: REPEATABLE.responseHeaders,
    },
    errors: ['endpoint_not_found', 'endpoint_disabled', 'storage_full', 'webhooks_disabled', ...REPEATABLE.errors],
  })
  async replay(
    @CurrentCaller() { accountId }: Caller,
    @Param('id') id: string,
    @JsonBody(ReplayBody) body: ReplayBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const { since, until = null } = body;
    const end = until === null ? null : new Date(until);
    const gone = goneSignal(request, reply);
    return this.repeats.afterwards({ request, reply, body }, async () =>
      replayedView(await this.replayEndpoint.execute(accountId, id, new Date(since), end, gone)),
    );
  }
}
