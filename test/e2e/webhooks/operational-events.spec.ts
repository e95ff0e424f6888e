import pg from 'pg';
import { isTypeId } from '#kernel/typeid.js';
import type { Account } from '../../support/api.js';
import { pageOf } from '../../support/api.js';
import { expectDocumentedWebhook } from '../../support/documented.js';
import { Fleet } from '../../support/fleet.js';
import { until } from '../../support/processes.js';
import { Receiver, type Behaviour } from '../../support/receiver.js';

interface Shown extends Record<string, unknown> {
  readonly id: string;
  readonly type?: string;
  readonly status: string;
}

interface Event {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Record<string, unknown>;
}

describe('Operational events', () => {
  let fleet: Fleet;
  let receiver: Receiver;
  let account: Account;
  let paths = 0;

  beforeAll(async () => {
    fleet = await Fleet.start({ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_RETRY_SECONDS: '0', MAX_ATTEMPTS: '1' });
    await fleet.worker();
    receiver = await Receiver.start();
  });
  afterAll(async () => {
    receiver.stop();
    await fleet.stop();
  });
  beforeEach(async () => {
    account = await fleet.client.signUp();
  });
  afterEach(async () => {
    expect(await fleet.census()).toBe(0);
  });

  const ask = (route: string, body?: object, by: Account = account) => fleet.client.ask(by, route, body);
  const endpoint = async (types: readonly string[], behaviour: Behaviour = 204, by = account) => {
    const path = `/operational-${paths++}`;
    const created = await ask('POST /endpoints', { url: receiver.url(path, behaviour), types }, by);
    return { path, id: String(created.body.id) };
  };
  const send = async (body: object) => (await fleet.client.sent(account, { body })).id;
  const message = async (id: string) => (await ask(`GET /messages/${id}`)).body as Shown;
  const becomes = (id: string, status: string) => until(async () => (await message(id)).status === status);
  const list = async () => pageOf<Shown>(await ask('GET /messages')).data;
  const eventsAt = (path: string) =>
    receiver.at(path).map(({ body }) => {
      const event = JSON.parse(body) as Event;
      expectDocumentedWebhook(event.type.startsWith('sluice.') ? 'operationalEvent' : 'message', body);
      return event;
    });
  const eventAt = async (path: string) => {
    await until(() => receiver.at(path).length > 0);
    return eventsAt(path)[0];
  };
  /** A message that an endpoint does not accept has failed. */
  const failed = async (more: object = {}) => {
    await ask('PATCH /account', { delivery: 'webhooks' });
    await endpoint(['order.*'], 500);
    const id = await send({ message: 'dead', type: 'order.paid', ...more });
    await becomes(id, 'failed');
    return id;
  };

  it('report a message that has failed to the endpoints that name it, and to no other', async () => {
    const named = await endpoint(['sluice.message.failed']);
    const prefixed = await endpoint(['sluice.*']);
    const others = [await endpoint(['*']), await endpoint([]), await endpoint(['sluice.endpoint.disabled'])];
    const stranger = await fleet.client.signUp();
    others.push(await endpoint(['sluice.*'], 204, stranger));
    const metadata = { ['__proto__']: 'x', 10: 'a', quote: '"\\\n\u0001 ', é: '💌' };
    const id = await failed({ message: 'dead "letter"\u0001\\ 💌', metadata, orderingKey: 'a"b' });
    const event = await eventAt(named.path);
    expect(event?.type).toBe('sluice.message.failed');
    const shown = await message(id);
    expect(shown.failureReason).toMatch(/^ep_.*: The receiver returned 500\.$/);
    expect(event?.data).toEqual(shown);
    expect(await eventAt(prefixed.path)).toEqual(event);
    for (const { path } of others) {
      expect(eventsAt(path).filter(({ type }) => type.startsWith('sluice.'))).toEqual([]);
    }
  });

  it('are messages with their type in lists, which no caller can send', async () => {
    await endpoint(['sluice.message.failed']);
    const id = await failed();
    const [event] = (await list()).filter(({ type }) => type === 'sluice.message.failed');
    expect(event).toMatchObject({ delivery: 'webhooks' });
    expect(isTypeId('msg', event?.id ?? '')).toBe(true);
    expect(JSON.parse(String(event?.message))).toMatchObject({ id, status: 'failed' });
    await becomes(event?.id ?? '', 'delivered');
    for (const type of ['sluice.message.failed', 'sluice.x', 'sluice']) {
      expect((await ask('POST /messages', { message: 'hi', type })).status).toBe(400);
    }
  });

  it('are dead letters of an account whose messages go to handlers, and of the longest text', async () => {
    const { path } = await endpoint(['sluice.message.failed']);
    // Of characters that JSON escapes. A request could not carry so many.
    const text = '\u0001'.repeat(262_144);
    await fleet.sql(`UPDATE sluice.accounts SET delivery = 'pull' WHERE id = $1`, [account.id]);
    const id = await send({ message: 'hi' });
    await fleet.sql(
      `UPDATE sluice.messages SET text = $2, status = 'failed', failure_reason = 'no luck', available_at = NULL
       WHERE id = $1`,
      [id, text],
    );
    expect((await eventAt(path))?.data).toMatchObject({
      id,
      message: text,
      failureReason: 'no luck',
      delivery: 'pull',
    });
  });

  it('make no others when they fail, and can be retried', async () => {
    const { path, id: endpointId } = await endpoint(['sluice.*'], 500);
    await failed();
    const isOver = async () =>
      (await list()).some(({ type, status }) => type?.startsWith('sluice.') && status === 'failed');
    await until(isOver);
    const events = (await list()).filter(({ type }) => type?.startsWith('sluice.'));
    expect(events).toHaveLength(1);
    expect(receiver.at(path)).toHaveLength(2);
    const retried = await ask(`POST /messages/${events[0]?.id}/retry`);
    expect(retried.status).toBe(202);
    await until(() => receiver.at(path).length === 4);
    await until(isOver);
    await ask(`PATCH /endpoints/${endpointId}`, { enabled: false });
    expect((await list()).filter(({ type }) => type?.startsWith('sluice.'))).toHaveLength(1);
  });

  it('report an endpoint that was disabled to the others, as it is shown', async () => {
    const { path } = await endpoint(['sluice.endpoint.*']);
    await ask('PATCH /account', { delivery: 'webhooks' });
    const gone = await endpoint(['order.*'], 410);
    await send({ message: 'hi', type: 'order.paid' });
    const event = await eventAt(path);
    expect(event).toMatchObject({
      type: 'sluice.endpoint.disabled',
      data: { disabledReason: 'gone', types: ['order.*'] },
    });
    // It is failing from when the attempt has ended, which is later.
    const shown = (await ask(`GET /endpoints/${gone.id}`)).body;
    expect(event?.data).toEqual({ ...shown, failingSince: null });
    const other = await endpoint([]);
    await ask(`PATCH /endpoints/${other.id}`, { enabled: false });
    await until(() => receiver.at(path).length === 2);
    expect(eventsAt(path)[1]?.data).toMatchObject({ id: other.id, disabledReason: 'by_account' });
  });

  it('are announced to workers, which look for deliveries rarely while nothing else happens', async () => {
    const client = new pg.Client(fleet.client.environment.DATABASE_URL);
    await client.connect();
    const announced: unknown[] = [];
    client.on('notification', ({ payload }) => announced.push(payload));
    await client.query('LISTEN sluice_available');
    const byDatabase = async () => {
      await client.query('SELECT');
      return announced.splice(0).filter((payload) => String(payload).startsWith(' '));
    };
    const [one, other] = [await endpoint([]), await endpoint([])];
    await ask(`PATCH /endpoints/${one.id}`, { enabled: false });
    expect(await byDatabase()).toEqual([]);
    await endpoint(['sluice.*']);
    await ask(`PATCH /endpoints/${other.id}`, { enabled: false });
    expect(await byDatabase()).toEqual([' webhooks']);
    await client.end();
  });

  it('report a limit that is reached, once a window', async () => {
    const { path } = await endpoint(['sluice.account.limit_reached']);
    const keys = [account.key, String((await ask('POST /api-keys', { name: 'b' })).body.key)];
    await fleet.sql(`UPDATE sluice.accounts SET per_minute = 12, epoch = epoch + 1 WHERE id = $1`, [account.id]);
    const statuses: number[] = [];
    for (let round = 0; round < 10; round++) {
      for (const key of keys) {
        const response = await fleet.client.ask(key, 'GET /account');
        statuses.push(response.status);
      }
    }
    expect(statuses).toContain(429);
    const event = await eventAt(path);
    expect(event).toMatchObject({
      type: 'sluice.account.limit_reached',
      data: { window: 'minute', minute: { limit: 12, used: 12, remaining: 0 }, day: { used: 12 } },
    });
    const [row] = await fleet.sql<{ count: number }>(
      `SELECT count(*)::int FROM sluice.messages WHERE account_id = $1 AND type = 'sluice.account.limit_reached'`,
      [account.id],
    );
    expect(row).toEqual({ count: 1 });
  });

  it('count against no limit, but their bytes are stored', async () => {
    await endpoint(['sluice.message.failed']);
    await failed();
    const isDelivered = async () =>
      (await list()).some(({ type, status }) => type !== 'order.paid' && status === 'delivered');
    await until(isDelivered);
    const [usage] = await fleet.sql<{ bytes: number }>(
      `SELECT sum(octet_length(text) + octet_length(type) + 256 + 1024)::int AS bytes FROM sluice.messages
       WHERE account_id = $1`,
      [account.id],
    );
    const used = async () => {
      const { storage } = (await ask('GET /account/usage')).body as { storage: { usedBytes: number } };
      return storage.usedBytes;
    };
    // A further attempt counts, too.
    await until(async () => (await used()) >= (usage?.bytes ?? 0));
  });
});
