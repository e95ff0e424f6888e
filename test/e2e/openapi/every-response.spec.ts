import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isPartOfApi, RouteTable } from '#platform/http/route-table.js';
import { createLogger } from '#platform/observability/logging.js';
import { readSettings } from '../../../apps/settings.js';
import { startApi } from '../../../apps/api/api.js';
import { OPERATOR, ownApi } from '../../support/api.js';
import { OPERATIONS, type Operation } from '../../support/documented.js';
import { lines, onTheWire } from '../../support/http.js';
import { offender } from '../../support/limits.js';
import { Link } from '../../support/link.js';

/** Documented responses that take more than one request, by the file in test/e2e/ that receives them. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  'accounts/get-account': ['getAccount 200'],
  'accounts/change-account': ['changeOwnAccount 200'],
  'accounts/get-usage': ['getUsage 200'],
  'accounts/usage-history': ['getUsageHistory 200', 'getAnyUsageHistory 200', 'listUsage 200'],
  'accounts/simulate': ['simulateLimits 200'],
  'post-accounts/201': ['signUp 201'],
  'post-accounts/403': ['signUp 403'],
  'api-keys/list': ['listApiKeys 200'],
  'api-keys/current': ['getOwnApiKey 200', 'getOwnApiKey 403'],
  'api-keys/create': ['createApiKey 201'],
  'api-keys/rotate': ['rotateApiKey 201'],
  'api-keys/revoke': ['revokeApiKey 204'],
  'api-keys/too-many-keys': ['createApiKey 409', 'rotateApiKey 409'],
  'post-messages/202': ['sendMessage 202'],
  'post-messages/409': ['sendMessage 409', 'sendBatch 409'],
  'post-messages/422': ['sendMessage 422'],
  'post-messages/507': [
    ...['sendMessage 507', 'sendBatch 507', 'retryMessage 507', 'retryFailedMessages 507', 'replayEndpoint 507'],
  ],
  'post-messages-batch/202': ['sendBatch 202'],
  'post-messages-batch/422': ['sendBatch 422'],
  'get-messages/200': ['listMessages 200'],
  'get-message/200': ['getMessage 200'],
  'get-attempts/200': ['listAttempts 200'],
  'endpoints/deliveries': ['listMessageDeliveries 200', 'listEndpointDeliveries 200'],
  'cancel-message/200': ['cancelMessage 200'],
  'cancel-messages/202': ['cancelQueuedMessages 202', 'cancelQueuedMessages 409', 'cancelQueuedMessages 422'],
  'cancel-message/409': ['cancelMessage 409', 'retryMessage 409'],
  'leases/lease': ['leaseMessages 200'],
  'leases/end': [
    ...['acknowledgeMessages 200', 'acknowledgeMessage 204', 'acknowledgeMessage 409', 'rejectMessage 204'],
    ...['rejectMessage 409', 'extendLease 200', 'extendLease 409'],
  ],
  'events/stream': ['streamEvents 200', 'streamEvents 409'],
  'retry-message/202': ['retryMessage 202'],
  'retry-messages/202': ['retryFailedMessages 202'],
  'admin/create-account': ['createAccount 201', 'createAccount 409', 'changeAccount 409'],
  'admin/delete-account': ['deleteAccount 202'],
  'admin/accounts': ['listAccounts 200', 'getAnyAccount 200'],
  'admin/audit': ['listAudit 200'],
  'admin/plans': [
    ...['listPlans 200', 'getPlan 200', 'putPlan 200', 'putPlan 201', 'putPlan 412', 'deletePlan 204'],
    ...['deletePlan 409', 'deletePlan 412'],
  ],
  'admin/api-keys': ['listAnyApiKeys 200', 'revokeAnyApiKey 204'],
  'api-keys/repeats': [
    'createAnyApiKey 201',
    'signUp 409',
    'signUp 422',
    'createApiKey 422',
    'rotateApiKey 422',
    'revokeApiKey 409',
    'revokeApiKey 422',
    'createAnyApiKey 409',
    'createAccount 422',
    'createAnyApiKey 422',
    'createPortalLink 422',
    'revokeAnyApiKey 409',
    'revokeAnyApiKey 422',
    'deleteAccount 409',
    'deleteAccount 422',
    'deletePlan 422',
    'liftBan 409',
    'liftBan 422',
    'retryFailedMessages 409',
    'retryFailedMessages 422',
    'cancelMessage 422',
    'retryMessage 422',
    'createEndpoint 422',
    'deleteEndpoint 409',
    'deleteEndpoint 422',
    'rotateSecret 409',
    'rotateSecret 422',
    'replayEndpoint 422',
  ],
  'admin/portal-links': ['createPortalLink 201', 'createPortalLink 409', 'openPortalLink 201', 'openPortalLink 403'],
  'admin/change-plan': ['changeAccount 200'],
  'admin/bans': ['listBans 200', 'liftBan 204'],
  'endpoints/endpoints': [
    ...['createEndpoint 201', 'createEndpoint 409', 'listEndpoints 200', 'getEndpoint 200', 'changeEndpoint 200'],
    ...['deleteEndpoint 204', 'rotateSecret 200'],
  ],
  'webhooks/deliver': ['testEndpoint 200', 'replayEndpoint 202', 'replayEndpoint 409'],
  'openapi/document': ['getOpenApiDocument 200'],
  'pages/docs': ['readDocs 200'],
  'pages/pages': ['getAsset 200', 'listErrors 200', 'explainError 200'],
};

const documented = OPERATIONS.flatMap((operation) =>
  Object.keys(operation.responses).map((status) => ({ operation, status, name: `${operation.operationId} ${status}` })),
);
const testedElsewhere = Object.values(ELSEWHERE).flat();
const testedHere = documented.filter(({ name }) => !testedElsewhere.includes(name));

describe('Every documented response', () => {
  const link = new Link();
  const api = ownApi({ REQUEST_TIMEOUT_MS: '3000', MAX_BODY_BYTES: '1024' }, link);
  const keys = { holder: '', sender: '', reader: '', limited: '' };
  beforeAll(async () => {
    const holder = await api.signUp();
    keys.holder = holder.key;
    keys.sender = (await api.createKey(holder, { scopes: ['messages:send'] })).key;
    keys.reader = (await api.createKey(holder, { scopes: ['messages:read'] })).key;
    keys.limited = (await offender(api, 0)).key;
  });

  /** A request that would succeed except for the ids in its path. @param key empty for none */
  const request = (
    { method, path, security, requestBody }: Operation,
    { key = 'operatorsKey' in (security[0] ?? {}) ? OPERATOR.key : keys.holder, headers = [] as string[] } = {},
  ) => {
    const body = requestBody === undefined ? '' : JSON.stringify(requestBody.content['application/json'].example);
    const framing = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${body.length}`];
    const authorization = key === '' ? [] : [`Authorization: Bearer ${key}`];
    const line = `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, 'unknown')} HTTP/1.1`;
    return lines(line, 'Host: sluice', 'Connection: close', ...framing, ...authorization, ...headers) + body;
  };

  /** Requests that lead to a status with any operation. */
  const requests: Readonly<Record<string, (operation: Operation) => string>> = {
    400: (operation) => request(operation, { headers: ['Not a header'] }),
    401: (operation) => request(operation, { key: '' }),
    403: (operation) => {
      const [scope] = operation.security[0]?.apiKey ?? [];
      return request(operation, { key: scope === 'messages:send' ? keys.reader : keys.sender });
    },
    404: (operation) => request(operation),
    408: (operation) => request(operation).replace(/\r\n\r\n[^]*/, '\r\n'),
    413: (operation) => request(operation).replace(/Content-Length: \d+/, 'Content-Length: 2000'),
    415: (operation) => request(operation, { headers: ['Content-Encoding: gzip'] }),
    429: (operation) => request(operation, { key: keys.limited }),
    431: (operation) => request(operation, { headers: [`X-Large: ${'x'.repeat(20_000)}`] }),
    500: (operation) => request(operation, { key: keys.holder }),
    503: (operation) => request(operation, { key: keys.holder }),
  };

  /** Sends to each operation that documents this status a request that leads to it. */
  const expectStatus = async (expected: string) => {
    const operations = testedHere.filter(({ status }) => status === expected);
    const received = operations.map(async ({ name, operation }) => {
      const text = await onTheWire(api.url, requests[expected]?.(operation) ?? '');
      return `${name}: ${/HTTP\/1\.1 (\d+)/.exec(text)?.[1]}`;
    });
    expect(await Promise.all(received)).toEqual(operations.map(({ name }) => `${name}: ${expected}`));
  };

  it.each(['400', '401', '403', '404', '408', '413', '415', '429', '431'])('is received: %s', expectStatus);

  it('is received: 500', async () => {
    await api.sql('ALTER TABLE sluice.rate_limits ADD CONSTRAINT broken CHECK (false) NOT VALID');
    try {
      await expectStatus('500');
    } finally {
      await api.sql('ALTER TABLE sluice.rate_limits DROP CONSTRAINT broken');
    }
  });

  it('is received: 503', async () => {
    await link.cut();
    try {
      await expectStatus('503');
    } finally {
      await link.restore();
    }
  });

  it('is tested here or in another file', () => {
    expect(testedHere.filter(({ status }) => !(status in requests)).map(({ name }) => name)).toEqual([]);
    expect(documented.map(({ name }) => name)).toEqual(expect.arrayContaining(testedElsewhere));
    const missing = Object.keys(ELSEWHERE).filter((file) => !existsSync(join(__dirname, '..', `${file}.spec.ts`)));
    expect(missing).toEqual([]);
  });

  it('belongs to a route, and every route is documented', async () => {
    const routes = new Set<string>();
    const collectFrom = jest.spyOn(RouteTable.prototype, 'collectFrom').mockImplementation((fastify) => {
      fastify.addHook('onRoute', ({ method, url }) => {
        for (const name of [method].flat()) routes.add(`${name} ${url.replace(/:(\w+)/g, '{$1}')}`);
      });
    });
    await (await startApi(readSettings(api.environment), createLogger('silent', 'api'))).stop();
    collectFrom.mockRestore();
    const known = [...routes].filter((route) => !route.startsWith('HEAD ') && isPartOfApi(route.replace(/^\w+ /, '')));
    const described = OPERATIONS.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(known.toSorted()).toEqual(described.toSorted());
    expect(described.length).toBeGreaterThan(10);
  });
});
