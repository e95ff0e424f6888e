import { setTimeout as sleep } from 'node:timers/promises';
import { expectProblem, OPERATOR, type Account } from '../../support/api.js';
import { Consumer } from '../../support/consumer.js';
import { openApi } from '../../support/documented.js';
import { EventClient } from '../../support/event-client.js';
import { Fleet } from '../../support/fleet.js';
import { metricsOf } from '../../support/metrics.js';
import { until } from '../../support/processes.js';
import { Receiver } from '../../support/receiver.js';

describe('GET /events', () => {
  let fleet: Fleet;
  let account: Account;
  let receiver: Receiver;
  const clients: EventClient[] = [];
  beforeAll(async () => {
    fleet = await Fleet.start({ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_RETRY_SECONDS: '0' });
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
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });

  const open = async (lastEventId?: string, by: { key: string } = account, api = fleet.client) => {
    const client = await EventClient.open(api, by, lastEventId);
    clients.push(client);
    // Until it has the place from which it can resume.
    await until(() => client.blocks.length > 0);
    return client;
  };
  const api = () => fleet.client;
  const send = async (message = 'hello') => (await api().sent(account, { message })).id;
  const pulling = () => api().ask(account, 'PATCH /account', { delivery: 'pull' });
  const ids = ({ events }: EventClient) => events.map(({ id }) => id);
  const openStreams = async () => (await metricsOf(api().managementUrl)).get('sluice_event_streams');

  it('sends each change of a message that a handler gets, as the message then is', async () => {
    const stream = await open();
    const delivered = await send();
    const failed = await send('throw');
    await until(
      () => stream.statusesOf(failed).at(-1) === 'failed' && stream.statusesOf(delivered).length === 3,
      120_000,
    );
    expect(stream.statusesOf(delivered)).toEqual(['queued', 'processing', 'delivered']);
    const retried = ['queued', 'processing'];
    const attempts = Number((await api().ask(account, `GET /messages/${failed}`)).body.attempts);
    expect(attempts).toBeGreaterThan(1);
    expect(stream.statusesOf(failed)).toEqual([...Array.from({ length: attempts }, () => retried).flat(), 'failed']);
    const last = stream.events.findLast(({ data }) => data.id === failed);
    expect(last).toMatchObject({ event: 'message.failed', data: { failureReason: 'as requested', message: 'throw' } });
    expect(last?.data).toEqual((await api().ask(account, `GET /messages/${failed}`)).body);
  });

  it('sends each change of a message that is pulled', async () => {
    await pulling();
    const consumer = new Consumer(api(), account);
    const stream = await open();
    const id = await send();
    await consumer.nack(await consumer.leaseOne(), { delaySeconds: 0 });
    await consumer.extend(await consumer.leaseOne({ wait: 20 }), 60);
    const cancelled = await send();
    await api().ask(account, `POST /messages/${cancelled}/cancel`);
    await stream.received(6);
    expect(stream.statusesOf(id)).toEqual(['queued', 'processing', 'queued', 'processing']);
    expect(stream.statusesOf(cancelled)).toEqual(['queued', 'cancelled']);
    expect(stream.events.map(({ data }) => data.updatedAt)).toEqual(
      stream.events.map(({ data }) => data.updatedAt).sort(),
    );
  });

  it('sends each change of a message that is posted to endpoints', async () => {
    await api().ask(account, 'PATCH /account', { delivery: 'webhooks' });
    const url = receiver.url('/', (response, _received, n) => response.writeHead(n === 1 ? 500 : 204).end());
    const { id: endpointId } = (await api().ask(account, 'POST /endpoints', { url })).body;
    const stream = await open();
    const delivered = await send();
    await until(() => stream.statusesOf(delivered).at(-1) === 'delivered');
    const deliverAt = new Date(Date.now() + 3_600_000);
    const { id: abandoned } = await api().sent(account, { body: { message: 'later', deliverAt } });
    await api().ask(account, `DELETE /endpoints/${String(endpointId)}`);
    const atOnce = await send();
    await stream.received(6);
    expect(stream.statusesOf(delivered)).toEqual(['queued', 'processing', 'delivered']);
    expect(stream.statusesOf(abandoned)).toEqual(['queued', 'failed']);
    expect(stream.events.find(({ data }) => data.id === atOnce)).toMatchObject({
      ...{ event: 'message.failed', data: { failureReason: 'no_endpoint' } },
    });
  });

  it('tells that no endpoint gets a message, and with what it was sent', async () => {
    await api().ask(account, 'PATCH /account', { delivery: 'webhooks' });
    await api().ask(account, 'POST /endpoints', { url: receiver.url('/other'), types: ['user.*'] });
    const stream = await open();
    const fields = { type: 'order.paid', metadata: { region: 'eu' }, orderingKey: 'customer-17' };
    const { id } = await api().sent(account, { body: { message: 'hello', ...fields } });
    const [event] = await stream.received(1);
    expect(event).toMatchObject({ event: 'message.skipped', data: { id, ...fields, status: 'skipped', attempts: 0 } });
    expect(event?.data).toEqual((await api().ask(account, `GET /messages/${id}`)).body);
  });

  it('responds with the headers of every response, and those of a stream', async () => {
    const { response } = await open();
    const names = Object.keys(openApi.components.headers).map((name) => name.toLowerCase());
    expect(Object.keys(response.headers)).toEqual(
      expect.arrayContaining(names.filter((name) => /^(x-)?rate/.test(name))),
    );
    expect(response.headers).toMatchObject({
      ...{ 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    });
    expect(response.headers['x-request-id']).toBeDefined();
    const head = await api().ask(account, 'HEAD /events');
    expect([head.status, head.headers['content-type'], head.bytes.length]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      0,
    ]);
  });

  it('sends nothing of another account', async () => {
    const other = await api().signUp();
    const [own, others] = [await open(), await open(undefined, other)];
    const id = await send();
    await own.received(3);
    expect(own.events.every(({ data }) => data.id === id)).toBe(true);
    expect(others.events).toEqual([]);
  });

  it('resumes after any event, without missing or repeating one, while messages are sent', async () => {
    await pulling();
    const whole = await open();
    const consumer = new Consumer(api(), account);
    const parts: EventClient[] = [await open()];
    const sending = new AbortController();
    const traffic = (async () => {
      for (let count = 0; count < 15; count++) {
        await api().sendBatch(account, { messages: Array.from({ length: 20 }, (_, n) => `${count}-${n}`) });
        await consumer.ackAll((await consumer.lease({ max: 15 })).map(({ id, leaseToken }) => ({ id, leaseToken })));
      }
      sending.abort();
    })();
    while (!sending.signal.aborted) {
      const part = parts.at(-1);
      await sleep(60);
      part?.close();
      parts.push(await open(part?.lastEventId));
    }
    await traffic;
    const expected = 15 * 20 + 2 * 15 * 15;
    await whole.received(expected);
    const seen = () => parts.flatMap(({ events }) => events);
    await until(() => seen().length >= expected);
    const changes = (events: EventClient['events']) => events.map(({ data: { id, status } }) => `${id} ${status}`);
    expect(changes(whole.events)).toHaveLength(expected);
    expect(new Set(changes(whole.events)).size).toBe(expected);
    expect(changes(seen()).sort()).toEqual(changes(whole.events).sort());
    for (const id of new Set(whole.events.map(({ data }) => data.id))) {
      const statuses = seen()
        .filter(({ data }) => data.id === id)
        .map(({ data }) => data.status);
      expect(statuses).toEqual(['queued', 'processing', 'delivered'].slice(0, statuses.length));
    }
    // From the middle, by an id of the other stream.
    const middle = whole.events[400];
    const resumed = await open(middle?.id);
    await resumed.received(expected - 401);
    expect(ids(resumed).length).toBe(expected - 401);
    expect(changes(resumed.events)).toEqual(changes(whole.events.slice(401)));
  });

  it('misses nothing of a transaction that commits after later ones', async () => {
    await pulling();
    const stream = await open();
    const early = await send('early');
    await stream.received(1);
    const release = await api().hold(
      `UPDATE sluice.messages SET status = 'cancelled', available_at = NULL, updated_at = now() WHERE id = $1`,
      [early],
      'COMMIT',
    );
    const later = await send('later');
    const resumed = await open(stream.lastEventId);
    await sleep(200);
    await release();
    for (const client of [stream, resumed]) {
      await until(
        () => client.statusesOf(later).length === 1 && client.statusesOf(early).includes('cancelled'),
        120_000,
      );
    }
    expect(resumed.events).toHaveLength(2);
    expect(stream.events).toHaveLength(3);
  });

  it('keeps the order of a message whose changes are made by transactions that began the other way round', async () => {
    await pulling();
    const [first, second] = [await send('first'), await send('second')];
    const stream = await open();
    const change = (status: string) =>
      `UPDATE sluice.messages SET status = '${status}', available_at = NULL, updated_at = clock_timestamp() WHERE id = $1`;
    // It has its number before the last one, and changes the same message after it.
    const older = await api().hold(change('cancelled'), [first], 'COMMIT');
    // While it runs, the log ends between the numbers of the two others.
    const between = await api().hold('SELECT pg_current_xact_id()');
    await api().sql(change('cancelled'), [second]);
    await older((client) => client.query(change('failed'), [second]));
    await stream.received(1);
    await between();
    await stream.received(3);
    expect(stream.statusesOf(second)).toEqual(['cancelled', 'failed']);
  });

  it('sends what happens in other processes', async () => {
    const other = await api().join();
    const stream = await open(undefined, account, other);
    const id = await send();
    await stream.received(3);
    expect(stream.statusesOf(id)).toEqual(['queued', 'processing', 'delivered']);
    stream.close();
    const resumed = await open(stream.events[0]?.id);
    await resumed.received(2);
    expect(resumed.events.map(({ data }) => data)).toEqual(stream.events.slice(1).map(({ data }) => data));
  });

  it('starts now for an id that it did not send', async () => {
    await pulling();
    const first = await open();
    await send();
    await until(() => first.events.length > 0);
    for (const id of ['7', 'x-1-2', '1-2-9999999999999999999', '999999999999999999-999999999999999999-1']) {
      const stream = await open(id);
      await sleep(150);
      expect(stream.events).toEqual([]);
      stream.close();
    }
  });

  it('responds 409 too_many_streams to the sixth of an account, over all processes and keys', async () => {
    const other = await api().join();
    const key = await api().createKey(account, { scopes: ['messages:read'] });
    const opened = [await open(), await open(), await open(undefined, key), await open(undefined, account, other)];
    const racing = await Promise.allSettled(Array.from({ length: 4 }, () => EventClient.open(api(), account)));
    const won = racing
      .filter(({ status }) => status === 'fulfilled')
      .map((race) => (race as { value: EventClient }).value);
    clients.push(...won);
    expect(won).toHaveLength(1);
    expectProblem(await other.ask(account, 'GET /events'), 409, 'too_many_streams');
    opened[0]?.close();
    await until(
      () =>
        open()
          .then(() => true)
          .catch(() => false),
      120_000,
    );
    await open(undefined, await api().signUp());
  });

  it('frees the places of a process that is gone', async () => {
    await api().sql(
      `INSERT INTO sluice.event_streams SELECT $1, n, gen_random_uuid(), now() + interval '1 hour' FROM generate_series(1, 5) n`,
      [account.id],
    );
    expectProblem(await api().ask(account, 'GET /events'), 409, 'too_many_streams');
    await api().sql('UPDATE sluice.event_streams SET open_until = now() WHERE account_id = $1', [account.id]);
    await until(
      () =>
        open()
          .then(() => true)
          .catch(() => false),
      120_000,
    );
  });

  it('disconnects a client that does not read, which resumes', async () => {
    await pulling();
    const cuts = async () => (await metricsOf(api().managementUrl)).get('sluice_event_streams_cut_total') ?? 0;
    const before = await cuts();
    const slow = await open();
    slow.response.pause();
    let sent = 0;
    await until(async () => {
      for (let count = 0; count < 8; count++, sent++) await send('x'.repeat(250_000));
      return (await cuts()) > before;
    }, 120_000);
    slow.response.resume();
    await slow.end();
    expect(slow.events.length).toBeLessThan(sent);
    const resumed = await open(slow.lastEventId);
    await until(() => slow.events.length + resumed.events.length >= sent);
    expect(new Set([...slow.events, ...resumed.events].map(({ data }) => data.id)).size).toBe(sent);
  });

  it('requires messages:read', async () => {
    const key = await api().createKey(account, { scopes: ['messages:send'] });
    expectProblem(await api().ask(key, 'GET /events'), 403, 'insufficient_scope');
  });

  it('ends when the key is revoked or the account suspended', async () => {
    const key = await api().createKey(account, { scopes: ['messages:read'] });
    const [revoked, suspended] = [await open(undefined, key), await open()];
    await api().ask(account, `DELETE /api-keys/${key.id}`);
    await revoked.end();
    expect(suspended.response.closed).toBe(false);
    await api().ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { suspended: true });
    await suspended.end();
    expectProblem(await api().ask(account, 'GET /events'), 403, 'account_suspended');
  });

  it('ends when its process stops', async () => {
    const stopping = await api().join({ SHUTDOWN_GRACE_MS: '120000' });
    const stream = await open(undefined, account, stopping);
    const startedAt = Date.now();
    await stopping.stop();
    await stream.end();
    expect(Date.now() - startedAt).toBeLessThan(60_000);
    expect(stream.response.complete).toBe(true);
  });

  it('leaves its place when its client is gone, and counts one request', async () => {
    const used = async () => ((await api().ask(account, 'GET /account/usage')).body.minute as { used: number }).used;
    const before = await used();
    const stream = await open();
    expect(await used()).toBe(before + 2);
    await until(async () => (await openStreams()) === 1);
    stream.close();
    await until(async () => (await openStreams()) === 0);
    const places = () =>
      api().sql('SELECT FROM sluice.event_streams WHERE open_until > now() AND account_id = $1', [account.id]);
    await until(async () => (await places()).length === 0);
  });

  it('records nothing of accounts that nobody listens to, and deletes what is older than an hour', async () => {
    const recorded = () =>
      api()
        .sql('SELECT recorded_at FROM sluice.events WHERE account_id = $1', [account.id])
        .then(({ length }) => length);
    await pulling();
    await send();
    expect(await recorded()).toBe(0);
    const stream = await open();
    await send();
    await stream.received(1);
    stream.close();
    await send();
    // Within the hour, so that a client can resume.
    expect(await recorded()).toBe(2);
    await api().sql(`UPDATE sluice.events SET recorded_at = now() - interval '61 minutes'`);
    await until(async () => (await recorded()) === 0);
    await api().sql(
      `UPDATE sluice.event_streams SET open_until = now() - interval '61 minutes' WHERE account_id = $1`,
      [account.id],
    );
    await send();
    expect(await recorded()).toBe(0);
  });
});
