import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lines, onTheWire } from '../../support/http.js';
import { offender } from '../../support/limits.js';
import { OPERATOR, ownApi, type Account } from '../../support/api.js';
import { RouteTable } from '#platform/http/route-table.js';
import { createLogger } from '#platform/logging.js';
import { readSettings } from '#platform/settings.js';
import { startApi } from '../../../apps/api/api.js';
import { openApi, OPERATIONS, type Operation } from '../../support/documented.js';
import { Link } from '../../support/link.js';

/** Answers that take more than a request: the file of test/e2e/ that gets them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'getAccount 200': 'accounts/get-account',
  'getUsage 200': 'accounts/get-usage',
  'simulateLimits 200': 'accounts/simulate',
  'signUp 201': 'post-accounts/201',
  'signUp 403': 'post-accounts/403',
  'listApiKeys 200': 'api-keys/list',
  'createApiKey 201': 'api-keys/create',
  'createApiKey 409': 'api-keys/too-many-keys',
  'rotateApiKey 201': 'api-keys/rotate',
  'rotateApiKey 409': 'api-keys/too-many-keys',
  'revokeApiKey 204': 'api-keys/revoke',
  'sendMessage 202': 'post-messages/202',
  'sendMessage 409': 'post-messages/409',
  'sendMessage 422': 'post-messages/422',
  'sendMessage 507': 'post-messages/507',
  'sendBatch 202': 'post-messages-batch/202',
  'sendBatch 409': 'post-messages/409',
  'sendBatch 422': 'post-messages-batch/422',
  'sendBatch 507': 'post-messages-batch/507',
  'listMessages 200': 'get-messages/200',
  'getMessage 200': 'get-message/200',
  'listAttempts 200': 'get-attempts/200',
  'cancelMessage 200': 'cancel-message/200',
  'cancelMessage 409': 'cancel-message/409',
  'retryMessage 202': 'retry-message/202',
  'retryMessage 409': 'retry-message/409',
  'retryFailedMessages 202': 'retry-messages/202',
  'listAccounts 200': 'admin/accounts',
  'getAnyAccount 200': 'admin/accounts',
  'changePlan 200': 'admin/change-plan',
  'listBans 200': 'admin/bans',
  'liftBan 204': 'admin/bans',
  'getOpenApiDocument 200': 'openapi/document',
  'readDocs 200': 'pages/docs',
  'getAsset 200': 'pages/assets',
  'listErrors 200': 'pages/errors',
  'explainError 200': 'pages/errors',
};

const documented = OPERATIONS.flatMap((operation) =>
  Object.keys(operation.responses).map((status) => ({ operation, name: `${operation.operationId} ${status}`, status })),
);
const sent = documented.filter(({ name }) => !(name in ELSEWHERE));

describe('Every answer that is documented', () => {
  const link = new Link();
  const api = ownApi({ REQUEST_TIMEOUT_MS: '3000', MAX_BODY_BYTES: '1024' }, link);
  let holder: Account;
  let sender: Account;
  let reader: Account;
  let refused: Account;
  beforeAll(async () => {
    holder = await api.signUp();
    sender = await withScope('messages:send');
    reader = await withScope('messages:read');
    refused = await offender(api, 0, await api.signUp('free'));
  });

  const withScope = async (scope: string): Promise<Account> => {
    const { key } = await api.createKey(holder, { scopes: [scope] });
    return { ...holder, key };
  };

  /** A request that would succeed but for the ids in its path, written out, with the key that it takes. */
  const request = ({ method, path, security, requestBody }: Operation, more: readonly string[] = [], key?: string) => {
    const own = 'operatorsKey' in (security[0] ?? {}) ? OPERATOR.key : holder.key;
    const body = requestBody === undefined ? '' : JSON.stringify(requestBody.content['application/json'].example);
    const framing = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${body.length}`];
    const headers = [...framing, ...(key === '' ? [] : [`Authorization: Bearer ${key ?? own}`]), ...more];
    const target = path.replace(/\{\w+\}/g, 'unknown');
    const head = [`${method.toUpperCase()} ${target} HTTP/1.1`, 'Host: sluice', 'Connection: close', ...headers];
    return lines(...head) + body;
  };

  /** What leads to each status, whatever the operation. */
  const ways: Readonly<Record<string, (operation: Operation) => string>> = {
    400: (operation) => request(operation, ['Not a header']),
    401: (operation) => request(operation, [], ''),
    403: (operation) => {
      const [scope] = operation.security[0]?.apiKey ?? [];
      return request(operation, [], scope === 'messages:send' ? reader.key : sender.key);
    },
    404: (operation) => request(operation),
    408: (operation) => request(operation).replace(/\r\n\r\n[^]*/, '\r\n'),
    413: (operation) => request(operation).replace(/Content-Length: \d+/, 'Content-Length: 2000'),
    415: (operation) => request(operation, ['Content-Encoding: gzip']),
    429: (operation) => request(operation, [], refused.key),
    431: (operation) => request(operation, [`X-Large: ${'x'.repeat(20_000)}`]),
    500: (operation) => request(operation, [], holder.key),
    503: (operation) => request(operation, [], holder.key),
  };

  const statusOf = async (text: string) => /HTTP\/1\.1 (\d+)/.exec(await onTheWire(api.url, text))?.[1] ?? 'nothing';
  /** Asks every operation for an answer with this status. */
  const expectStatus = async (wanted: string) => {
    const asked = sent.filter(({ status }) => status === wanted);
    const met = asked.map(async ({ name, operation }) => `${name}: ${await statusOf(ways[wanted]?.(operation) ?? '')}`);
    expect(await Promise.all(met)).toEqual(asked.map(({ name }) => `${name}: ${wanted}`));
  };

  it.each(['400', '401', '403', '404', '408', '413', '415', '429', '431'])('can be had: %s', expectStatus);

  it('can be had: 500', async () => {
    await api.sql('ALTER FUNCTION sluice.take_hits RENAME TO gone');
    try {
      await expectStatus('500');
    } finally {
      await api.sql('ALTER FUNCTION sluice.gone RENAME TO take_hits');
    }
  });

  it('can be had: 503', async () => {
    await link.cut();
    try {
      await expectStatus('503');
    } finally {
      await link.restore();
    }
  });

  it('is sent for here, or has a test of its own', () => {
    expect(sent.filter(({ status }) => !(status in ways)).map(({ name }) => name)).toEqual([]);
    const names = documented.map(({ name }) => name);
    expect(Object.keys(ELSEWHERE).filter((name) => !names.includes(name))).toEqual([]);
    const missing = Object.values(ELSEWHERE).filter((file) => !existsSync(join(__dirname, '..', `${file}.spec.ts`)));
    expect(missing).toEqual([]);
  });

  it('is of a route that there is, and no route is left out', async () => {
    const routes = new Set<string>();
    const learn = jest.spyOn(RouteTable.prototype, 'learnFrom');
    learn.mockImplementation((fastify) => {
      fastify.addHook('onRoute', ({ method, url }) => {
        for (const name of [method].flat()) routes.add(`${name} ${url.replace(/:(\w+)/g, '{$1}')}`);
      });
    });
    const started = await startApi(readSettings(api.environment), createLogger('silent', 'api'));
    await started.stop();
    const known = [...routes].filter((route) => !route.startsWith('HEAD ') && !route.includes('*'));
    const described = OPERATIONS.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(known.toSorted()).toEqual(described.toSorted());
    expect(Object.keys(openApi.paths).length).toBeGreaterThan(10);
  });
});
