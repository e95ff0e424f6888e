import { setTimeout as sleep } from 'node:timers/promises';
import { accountForEach, expectProblem, joinedApi, OPERATOR, sharedApi } from '../../support/api.js';
import { Consumer } from '../../support/consumer.js';
import { metricsOf } from '../../support/metrics.js';
import { until } from '../../support/processes.js';

describe('POST /messages/lease', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const consumer = new Consumer(api, account);
  beforeEach(() => api.ask(account, 'PATCH /account', { delivery: 'pull' }));

  const send = (message: string, more: object = {}) => api.sent(account, { body: { message, ...more } });
  /** Resolves when so many requests wait for messages. */
  const waits = (count = 1, process = api) =>
    until(async () => (await metricsOf(process.managementUrl)).get('sluice_leases_waiting') === count);
  const texts = async (input?: object) => (await consumer.lease(input)).map(({ message }) => message);
  const stored = async (id: string) => (await api.ask(account, `GET /messages/${id}`)).body;
  const attempts = async (id: string) => (await api.ask(account, `GET /messages/${id}/attempts`)).body.data;

  it('responds 200 with the oldest messages, each under a lease of its own', async () => {
    const sent = [await send('a'), await send('b'), await send('c')];
    const leased = await consumer.lease({ max: 2, seconds: 60 });
    expect(leased).toEqual(
      sent.slice(0, 2).map(({ id, message, createdAt }) => ({
        ...{ id, message, createdAt, attempt: 1 },
        leaseToken: expect.any(String) as string,
        leaseExpiresAt: expect.stringMatching(/Z$/) as string,
      })),
    );
    for (const { leaseExpiresAt } of leased) {
      expect(Math.abs(Date.parse(leaseExpiresAt) - Date.now() - 60_000)).toBeLessThan(10_000);
    }
    expect(await texts({ max: 100 })).toEqual(['c']);
    expect(await texts({})).toEqual([]);
    expect(await stored(sent[0]?.id ?? '')).toMatchObject({ status: 'processing', attempts: 1, delivery: 'pull' });
    expect(await attempts(sent[0]?.id ?? '')).toMatchObject([{ number: 1, target: 'pull', outcome: 'running' }]);
  });

  it('counts one request, however many messages it leases', async () => {
    await api.sendBatch(account, { messages: ['a', 'b', 'c'] });
    const used = async () => (await api.ask(account, 'GET /account/usage')).body.minute as { used: number };
    const before = (await used()).used;
    expect(await texts()).toEqual(['a', 'b', 'c']);
    expect((await used()).used).toBe(before + 2);
  });

  it('leases nothing of another account, and nothing that is delivered otherwise', async () => {
    await send('pulled');
    const other = await api.signUp();
    expect(await new Consumer(api, other).lease()).toEqual([]);
    await api.ask(account, 'PATCH /account', { delivery: 'handler' });
    await send('handled');
    expect(await texts()).toEqual(['pulled']);
  });

  it('leases at most about 1 MiB of text, but always a message', async () => {
    const large = 'x'.repeat(250_000);
    for (let count = 0; count < 6; count++) await send(large);
    expect(await texts({ max: 100 })).toHaveLength(4);
    expect(await texts({ max: 100 })).toHaveLength(2);
  });

  it('leases a message again soon after its lease has expired, and records the lost attempt', async () => {
    const { id } = await send('again');
    const first = await consumer.leaseOne({ seconds: 600 });
    expect(await texts()).toEqual([]);
    const { leaseExpiresAt } = (await consumer.extend(first, 1)).body;
    const second = await consumer.leaseOne({ wait: 20 });
    const lateMs = Date.now() - Date.parse(String(leaseExpiresAt));
    expect(lateMs).toBeGreaterThan(-50);
    expect(lateMs).toBeLessThan(15_000);
    expect(second).toMatchObject({ id, attempt: 2 });
    expect(await attempts(id)).toMatchObject([
      { number: 1, outcome: 'lost', target: 'pull', durationMs: null },
      { number: 2, outcome: 'running' },
    ]);
    expectProblem(await consumer.ack(first), 409, 'lease_lost');
    expect((await consumer.ack(second)).status).toBe(204);
  });

  it('fails a message whose last lease has expired instead of leasing it again', async () => {
    const { id } = await send('lost');
    await api.sql('UPDATE sluice.messages SET failures = 2, crashes = 2 WHERE id = $1', [id]);
    await consumer.leaseOne();
    await api.sql('UPDATE sluice.messages SET available_at = now(), claim_expires_at = now() WHERE id = $1', [id]);
    await send('next');
    expect(await texts()).toEqual(['next']);
    expect(await stored(id)).toMatchObject({ status: 'failed', failureReason: 'lease_expired' });
    expect(await attempts(id)).toMatchObject([{ number: 1, outcome: 'lost' }]);
    await api.ask(account, `POST /messages/${id}/retry`);
    expect(await consumer.leaseOne()).toMatchObject({ id, attempt: 2 });
  });

  it('leases a scheduled message when it is due', async () => {
    await send('much later', { deliverAt: new Date(Date.now() + 3_600_000).toISOString() });
    expect(await texts()).toEqual([]);
    const deliverAt = new Date(Date.now() + 1_000).toISOString();
    await send('later', { deliverAt });
    expect(await texts({ wait: 20 })).toEqual(['later']);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(deliverAt));
  });

  it('lets a queued message be cancelled, and one that is leased not', async () => {
    const [cancelled, leased] = [await send('cancelled'), await send('leased')];
    expect((await api.ask(account, `POST /messages/${cancelled.id}/cancel`)).status).toBe(200);
    expect(await texts()).toEqual(['leased']);
    expectProblem(await api.ask(account, `POST /messages/${leased.id}/cancel`), 409, 'invalid_transition');
  });

  it('leases failed messages again after a retry of all', async () => {
    const { id } = await send('again');
    await api.become(id, 'failed');
    const period = { since: new Date(0).toISOString(), until: new Date(Date.now() + 60_000).toISOString() };
    expect((await api.ask(account, 'POST /messages/retry', period)).body).toEqual({ count: 1 });
    expect(await consumer.leaseOne()).toMatchObject({ id });
  });

  it('responds 403 account_suspended, also to one that waits, and leases nothing', async () => {
    const waiting = consumer.request({ wait: 6 });
    await waits();
    await api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { suspended: true });
    const ids = ['a', 'b'].map((_text, index) => `msg_0000000000000000000000000${index}`);
    await api.sql(
      `INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at, delivery, available_at)
       SELECT id, $2, 'x', 'queued', now(), now(), 'pull', now() FROM unnest($1::text[]) AS id`,
      [ids.map((id) => id.slice(0, 24) + account.id.slice(-5) + id.slice(-1)), account.id],
    );
    expectProblem(await consumer.request(), 403, 'account_suspended');
    expectProblem(await waiting, 403, 'account_suspended');
    await api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { suspended: false });
    expect(await consumer.lease()).toHaveLength(2);
  });

  it('responds 401 to one that waits with a key that was revoked meanwhile, and leases nothing', async () => {
    const { id, key } = await api.createKey(account, { scopes: ['messages:consume'] });
    const waiting = api.ask(key, 'POST /messages/lease', { wait: 20 });
    await waits();
    expect((await api.ask(account, `DELETE /api-keys/${id}`)).status).toBe(204);
    // Until then, a key that was just verified is valid.
    await sleep(1_000);
    await send('for others');
    expectProblem(await waiting, 401, 'unauthorized');
    expect(await consumer.lease()).toMatchObject([{ message: 'for others', attempt: 1 }]);
  });

  it('shows the rate limits of the time of the response', async () => {
    const { headers } = await consumer.request({ wait: 2 });
    expect(Number(/"minute";r=\d+;t=(\d+)/.exec(headers.ratelimit ?? '')?.[1])).toBeLessThan(59);
  });

  describe('waits', () => {
    const other = joinedApi(api);

    it('until a message is sent, to any process', async () => {
      for (const process of [api, other]) {
        const startedAt = Date.now();
        const waiting = consumer.lease({ wait: 20 });
        await waits();
        await process.sent(account, { message: 'here' });
        expect(await waiting).toMatchObject([{ message: 'here' }]);
        expect(Date.now() - startedAt).toBeLessThan(15_000);
      }
    });

    it('until a message is rejected without delay, or retried, in another process', async () => {
      await send('again');
      const leased = await consumer.leaseOne();
      const elsewhere = new Consumer(other, account);
      const waiting = consumer.leaseOne({ wait: 20 });
      await waits();
      expect((await elsewhere.nack(leased, { delaySeconds: 0 })).status).toBe(204);
      expect(await waiting).toMatchObject({ attempt: 2 });
      await api.become(leased.id, 'failed');
      const retried = consumer.leaseOne({ wait: 20 });
      await waits();
      await other.ask(account, `POST /messages/${leased.id}/retry`);
      expect(await retried).toMatchObject({ message: 'again' });
    });

    it('until a lease expires, sooner than it would have, in another process', async () => {
      await send('sooner');
      const leased = await consumer.leaseOne({ seconds: 600 });
      const waiting = consumer.leaseOne({ wait: 20 });
      await waits();
      const { leaseExpiresAt } = (await new Consumer(other, account).extend(leased, 1)).body;
      expect(await waiting).toMatchObject({ message: 'sooner', attempt: 2 });
      expect(Date.now() - Date.parse(String(leaseExpiresAt))).toBeLessThan(15_000);
    });

    it('each for messages of its own, as many as there are', async () => {
      const waiting = Array.from({ length: 12 }, (_, index) =>
        new Consumer(index % 2 === 0 ? api : other, account).lease({ wait: 20, max: 1 }),
      );
      await Promise.all([waits(6), waits(6, other)]);
      await api.sendBatch(account, { messages: Array.from({ length: 8 }, (_, index) => `${index}`) });
      await sleep(100);
      for (const message of ['8', '9', '10', '11']) await send(message);
      const leased: string[] = [];
      for (const lease of waiting)
        void lease.then((messages) => leased.push(...messages.map(({ message }) => message)));
      await until(() => leased.length === 12);
      expect(new Set(leased).size).toBe(12);
    });

    it('no longer than it is asked to', async () => {
      const startedAt = Date.now();
      expect(await consumer.lease({ wait: 1 })).toEqual([]);
      expect(Date.now() - startedAt).toBeGreaterThan(950);
    });

    it('not for a client that is gone', async () => {
      const abort = new AbortController();
      const gone = fetch(`${api.url}/messages/lease`, {
        ...{ method: 'POST', body: JSON.stringify({ wait: 20 }), signal: abort.signal },
        headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
      }).catch(() => null);
      await waits();
      abort.abort();
      await gone;
      await waits(0);
      const { id } = await send('for another');
      await sleep(50);
      expect(await stored(id)).toMatchObject({ status: 'queued' });
    });

    it('until its process stops', async () => {
      const stopping = await api.join();
      const waiting = new Consumer(stopping, account).lease({ wait: 20 });
      await waits(1, stopping);
      const startedAt = Date.now();
      await stopping.stop();
      expect(await waiting).toEqual([]);
      expect(Date.now() - startedAt).toBeLessThan(15_000);
    });
  });

  it.each([
    ['max', [0, 101, 1.5, '10', true]],
    ['seconds', [0, 3_601, 0.5, '30']],
    ['wait', [-1, 21, 0.5, '1']],
  ])('responds 400 validation_failed to %s beyond its bounds', async (field, values) => {
    for (const value of values) {
      const { errors } = expectProblem(await consumer.request({ [field]: value }), 400, 'validation_failed');
      expect(errors).toEqual([{ pointer: `/${field}`, detail: expect.stringMatching(`^${field} must be`) as string }]);
    }
  });

  it('accepts each bound', async () => {
    for (const bounds of [
      { max: 1, seconds: 1, wait: 0 },
      { max: 100, seconds: 3_600 },
      { max: null, wait: null },
    ]) {
      expect(await consumer.lease(bounds)).toEqual([]);
    }
    await send('at once');
    expect(await texts({ wait: 20 })).toEqual(['at once']);
  });
});
