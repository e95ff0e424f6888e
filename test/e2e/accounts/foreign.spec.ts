import { accountOf, sharedApi, type Account } from '../../support/api.js';
import { Consumer, type LeasedMessage } from '../../support/consumer.js';
import { OPERATIONS } from '../../support/documented.js';
import { EventClient } from '../../support/event-client.js';
import { until } from '../../support/processes.js';

const TABLES = ['messages', 'attempts', 'endpoint_deliveries', 'endpoints', 'api_keys', 'idempotency_keys', 'outbox'];

/** What every text of the owner contains, and nothing of the stranger. */
const MARK = 'only-the-owner';

const SAME_KEY = { 'idempotency-key': 'the-same-key' };
const SINCE = { since: '2026-01-01T00:00:00Z', until: '2100-01-01T00:00:00Z' };

interface Owned {
  readonly queued: string;
  readonly failed: string;
  readonly leased: LeasedMessage;
  readonly endpoint: string;
  readonly keyId: string;
}

/** By operation, requests of a stranger about what another account has. */
const REQUESTS: Readonly<Record<string, (owned: Owned) => readonly (readonly [string, object?])[]>> = {
  getAccount: () => [['GET /account']],
  changeOwnAccount: () => [['PATCH /account', { delivery: 'pull' }]],
  getUsage: () => [['GET /account/usage']],
  getUsageHistory: () => [['GET /account/usage/history?by=hour'], ['GET /account/usage/history?by=day']],
  simulateLimits: () => [['POST /account/simulate', { requests: [{ at: 0 }] }]],
  listApiKeys: () => [['GET /api-keys']],
  getOwnApiKey: () => [['GET /api-keys/current']],
  createApiKey: () => [['POST /api-keys', { name: 'mine' }]],
  rotateApiKey: ({ keyId }) => [[`POST /api-keys/${keyId}/rotate`, {}]],
  revokeApiKey: ({ keyId }) => [[`DELETE /api-keys/${keyId}`]],
  sendMessage: () => [['POST /messages', { message: 'mine' }]],
  sendBatch: () => [['POST /messages/batch', { messages: [{ message: 'mine' }] }]],
  listMessages: ({ endpoint, leased }) => [
    ...['', ...['queued', 'processing', 'failed'].map((status) => `status=${status}`)].map(
      (query) => [`GET /messages?${query}`] as const,
    ),
    ...['', '&status=failed', '&status=delivered'].map(
      (status) => [`GET /messages?endpointId=${endpoint}${status}`] as const,
    ),
    [`GET /messages?cursor=${Buffer.from(leased.id).toString('base64url')}`],
  ],
  getMessage: (owned) => messagesOf(owned).map((id) => [`GET /messages/${id}`]),
  listMessageDeliveries: (owned) => messagesOf(owned).map((id) => [`GET /messages/${id}/deliveries`]),
  listEndpointDeliveries: ({ endpoint }) =>
    ['', '?status=pending', '?status=failed'].map((query) => [`GET /endpoints/${endpoint}/deliveries${query}`]),
  listAttempts: (owned) => messagesOf(owned).map((id) => [`GET /messages/${id}/attempts`]),
  cancelMessage: (owned) => messagesOf(owned).map((id) => [`POST /messages/${id}/cancel`]),
  retryMessage: (owned) => messagesOf(owned).map((id) => [`POST /messages/${id}/retry`]),
  cancelQueuedMessages: () => [['POST /messages/cancel', {}]],
  retryFailedMessages: () => [['POST /messages/retry', SINCE]],
  leaseMessages: () => [['POST /messages/lease', { max: 100 }]],
  acknowledgeMessages: ({ leased: { id, leaseToken } }) => [['POST /messages/ack', { leases: [{ id, leaseToken }] }]],
  acknowledgeMessage: ({ leased: { id, leaseToken } }) => [[`POST /messages/${id}/ack`, { leaseToken }]],
  rejectMessage: ({ leased: { id, leaseToken } }) => [[`POST /messages/${id}/nack`, { leaseToken }]],
  extendLease: ({ leased: { id, leaseToken } }) => [[`POST /messages/${id}/extend`, { leaseToken, seconds: 1 }]],
  createEndpoint: () => [['POST /endpoints', { url: 'https://example.com/mine' }]],
  listEndpoints: () => [['GET /endpoints']],
  getEndpoint: ({ endpoint }) => [[`GET /endpoints/${endpoint}`]],
  changeEndpoint: ({ endpoint }) => [[`PATCH /endpoints/${endpoint}`, { enabled: false }]],
  deleteEndpoint: ({ endpoint }) => [[`DELETE /endpoints/${endpoint}`]],
  rotateSecret: ({ endpoint }) => [[`POST /endpoints/${endpoint}/rotate-secret`, {}]],
  testEndpoint: ({ endpoint }) => [[`POST /endpoints/${endpoint}/test`]],
  replayEndpoint: ({ endpoint }) => [[`POST /endpoints/${endpoint}/replay`, SINCE]],
  // A test of its own.
  streamEvents: () => [],
};

const messagesOf = ({ queued, failed, leased }: Owned) => [queued, failed, leased.id];

describe('What belongs to another account', () => {
  const api = sharedApi();
  const owner = accountOf(api);
  const stranger = accountOf(api);
  let owned: Owned;

  const everything = async (of: Account) => {
    const rows = await Promise.all(
      TABLES.map((table) => {
        const owns =
          table === 'outbox'
            ? 'message_ids && ARRAY(SELECT id FROM sluice.messages WHERE account_id = $1)'
            : 'account_id = $1';
        const shown = table === 'api_keys' ? `to_jsonb(t) - 'last_used_at'` : 'to_jsonb(t)';
        return api.sql(`SELECT ${shown} AS row FROM sluice.${table} t WHERE ${owns} ORDER BY 1`, [of.id]);
      }),
    );
    return Object.fromEntries(TABLES.map((table, index) => [table, rows[index]]));
  };
  const sent = async (headers = {}) => (await api.sent(owner, { message: MARK, headers })).id;

  beforeAll(async () => {
    await api.ask(owner, 'PATCH /account', { delivery: 'webhooks' });
    const { body } = await api.ask(owner, 'POST /endpoints', { url: `https://example.com/${MARK}`, description: MARK });
    const endpoint = String(body.id);
    const failed = await sent(SAME_KEY);
    await api.become(failed, 'failed');
    await api.sql('UPDATE sluice.endpoint_deliveries SET due_at = NULL WHERE message_id = $1', [failed]);
    await api.ask(owner, 'PATCH /account', { delivery: 'pull' });
    await sent();
    const leased = await new Consumer(api, owner).leaseOne({ seconds: 600 });
    const queued = await sent();
    const { id: keyId } = await api.createKey(owner, { name: MARK });
    owned = { queued, failed, leased, endpoint, keyId };
    await api.ask(stranger, 'PATCH /account', { delivery: 'pull' });
  });

  const operations = OPERATIONS.filter(({ path, security }) => !path.startsWith('/admin') && security.length > 0);

  it('is requested by every operation', () => {
    expect(Object.keys(REQUESTS).sort()).toEqual(operations.map(({ operationId }) => operationId).sort());
  });

  it.each(Object.keys(REQUESTS))('is neither shown nor changed by %s', async (operationId) => {
    const before = await everything(owner);
    for (const table of TABLES.slice(0, -1).filter((name) => name !== 'attempts'))
      expect(before[table]).not.toEqual([]);
    for (const [route, body] of REQUESTS[operationId]?.(owned) ?? []) {
      const response = await api.ask(stranger, route, body, route === 'POST /messages' ? SAME_KEY : {});
      expect(response.bytes.toString()).not.toContain(MARK);
      const isById = / \/[^?]+_[0-9a-z]{26}/.test(route);
      expect({ route, isUnknown: response.status === 404 }).toEqual({ route, isUnknown: isById });
      expect(response.status).toBeLessThan(isById ? 405 : 300);
    }
    expect(await everything(owner)).toEqual(before);
  });

  it('is delivered to none of the endpoints of an account that has none', async () => {
    const other = await api.signUp();
    await api.ask(other, 'PATCH /account', { delivery: 'webhooks' });
    const { id } = await api.sent(other);
    expect((await api.ask(other, `GET /messages/${id}`)).body).toMatchObject({ failureReason: 'no_endpoint' });
  });

  it('is in no stream of events, also after the position of another account', async () => {
    const theirs = await EventClient.open(api, owner);
    await until(() => theirs.lastEventId !== '');
    const mine = await EventClient.open(api, stranger, theirs.lastEventId);
    await sent();
    await theirs.received(1);
    const { id } = await api.sent(stranger);
    await mine.received(1);
    expect(mine.events.map(({ data }) => data.id)).toEqual([id]);
    const resumed = await EventClient.open(api, stranger, theirs.lastEventId);
    await resumed.received(1);
    expect(resumed.events.map(({ data }) => data.id)).toEqual([id]);
    for (const client of [theirs, mine, resumed]) client.close();
  });
});
