import { Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Page } from '#kernel/page.js';
import { Scoped } from '#platform/http/access/access.js';
import { CurrentCaller } from '#platform/http/access/caller.js';
import type { Caller } from '#kernel/caller.js';
import { JsonBody } from '#platform/http/body/json-body.js';
import { header, Operation, Section } from '#platform/http/openapi/operation.js';
import { pageOf, PAGING, readPage, type PageView } from '#platform/http/body/paging.js';
import { REPEATABLE, Repeats } from '#platform/http/access/repeats.js';
import { ChangeEndpoint } from '../../application/endpoints/change-endpoint.js';
import { CreateEndpoint } from '../../application/endpoints/create-endpoint.js';
import { DeleteEndpoint } from '../../application/endpoints/delete-endpoint.js';
import { ReadEndpoints } from '../../application/endpoints/read-endpoints.js';
import { MAX_ENDPOINTS } from '../../domain/endpoint.js';
import { ChangeEndpointBody, CreateEndpointBody } from './endpoint-bodies.js';
import { ENDPOINT, ENDPOINT_ID, ENDPOINT_PAGE, endpointView, ISSUED_ENDPOINT, issuedEndpointView } from './views.js';
import { WebhooksEnabledGuard } from './webhooks-enabled.guard.js';

const LOCATION = header('The path of the endpoint.', {
  type: 'string',
  format: 'uri-reference',
  examples: ['/endpoints/ep_01h455vb4pex5vsknk084sn02q'],
});

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
    const { url, description, enabled, rateLimitPerSecond, types, headers } = body;
    const input = {
      url,
      description: description ?? '',
      enabled: enabled ?? true,
      rateLimitPerSecond: rateLimitPerSecond ?? 0,
      types: types ?? [],
      headers: headers ?? {},
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
    description:
      'Returns the endpoints of the account, newest first, without their secrets and the values of their headers.',
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
      'Fields that are omitted stay as they are, `types` and `headers` are replaced as a whole. null removes them, the ' +
      '`description` and the limit, and leaves `url` and `enabled` as they are. A ' +
      'change holds for every attempt that begins after the response. To pause an endpoint, disable it: messages that are accepted meanwhile ' +
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
    const { url = null, enabled = null } = body;
    // For these, null is a value: without any.
    const description = body.description === null ? '' : (body.description ?? null);
    const rateLimitPerSecond = body.rateLimitPerSecond === null ? 0 : (body.rateLimitPerSecond ?? null);
    const types = body.types === null ? [] : (body.types ?? null);
    const headers = body.headers === null ? {} : (body.headers ?? null);
    const changes = { url, description, enabled, rateLimitPerSecond, types, headers };
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
}
