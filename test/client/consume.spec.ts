import { setTimeout as sleep } from 'node:timers/promises';
import { ConflictError, Sluice, type HeldMessage, type Message, type SluiceError } from '#client/index.js';
import { accountForEach, sharedApi } from '../support/api.js';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { until } from '../support/processes.js';

describe('sluice.consume', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  let sluice: Sluice;
  let stop: AbortController;
  beforeEach(async () => {
    sluice = new Sluice({ apiKey: account.key, baseUrl: api.url });
    stop = new AbortController();
    await sluice.account.update({ delivery: 'pull' });
  });
  afterEach(() => {
    stop.abort();
  });

  const send = (count: number) =>
    sluice.messages.sendBatch(Array.from({ length: count }, (_, n) => ({ message: `message ${n}` })));
  const all = async (): Promise<Message[]> => {
    const messages: Message[] = [];
    for await (const message of sluice.messages.list({ limit: 100 })) messages.push(message);
    return messages;
  };
  const count = async (status: string) => (await all()).filter((message) => message.status === status).length;

  it('gives each message once, and acknowledges it', async () => {
    await send(12);
    const got: string[] = [];
    for await (const message of sluice.consume({ concurrency: 5, signal: stop.signal })) {
      expect(message.attempt).toBe(1);
      got.push(message.message);
      await message.ack();
      if (got.length === 12) stop.abort();
    }
    expect(got).toEqual(Array.from({ length: 12 }, (_, n) => `message ${n}`));
    expect((await all()).map(({ status }) => status)).toEqual(Array(12).fill('delivered'));
  });

  it('holds as many messages as it may, and acknowledges several in one request', async () => {
    await send(20);
    const requests: string[] = [];
    const counting: typeof fetch = (input, init) => {
      requests.push(new URL(input).pathname);
      return fetch(input, init);
    };
    const counted = new Sluice({ apiKey: account.key, baseUrl: api.url, fetch: counting });
    let running = 0;
    let most = 0;
    const work: Promise<void>[] = [];
    const handle = async (message: HeldMessage) => {
      most = Math.max(most, ++running);
      // However slow the machine is. Then for a little longer, so that a sixth would be noticed.
      await until(() => most >= 5);
      await sleep(20);
      running--;
      await message.ack();
    };
    for await (const message of counted.consume({ concurrency: 5, signal: stop.signal })) {
      work.push(handle(message));
      if (work.length === 20) stop.abort();
    }
    await Promise.all(work);
    expect(most).toBe(5);
    expect(await count('delivered')).toBe(20);
    expect(requests.filter((path) => path === '/messages/ack').length).toBeLessThan(20);
  });

  it('ends after its limit, and leases no more than that', async () => {
    await send(6);
    const held: HeldMessage[] = [];
    for await (const message of sluice.consume({ concurrency: 5, limit: 4, signal: stop.signal })) held.push(message);
    expect(held).toHaveLength(4);
    expect((await all()).map(({ attempts }) => attempts)).toEqual([0, 0, 1, 1, 1, 1]);
    // They are still held.
    await Promise.all(held.map((message) => message.ack()));
    expect(await count('delivered')).toBe(4);
  });

  it('extends the lease of a message while it is held', async () => {
    await send(1);
    const expiry = async () => {
      const text = 'SELECT claim_expires_at AS at FROM sluice.messages WHERE account_id = $1';
      return (await api.sql<{ at: Date }>(text, [account.id]))[0]?.at.getTime() ?? 0;
    };
    for await (const message of sluice.consume({ leaseSeconds: 5, signal: stop.signal })) {
      const first = await expiry();
      await until(async () => (await expiry()) > first);
      expect(message.signal.aborted).toBe(false);
      await message.ack();
      stop.abort();
    }
    expect(await all()).toMatchObject([{ status: 'delivered', attempts: 1 }]);
  });

  it('tells a handler, and whoever acknowledges, that the lease was lost', async () => {
    await send(1);
    for await (const message of sluice.consume({ leaseSeconds: 1, signal: stop.signal })) {
      await api.sql('UPDATE sluice.messages SET claim = gen_random_uuid() WHERE id = $1', [message.id]);
      await until(() => message.signal.aborted);
      expect((message.signal.reason as SluiceError).code).toBe('lease_lost');
      await expect(message.ack()).rejects.toThrow(ConflictError);
      stop.abort();
    }
  });

  it('rejects a message', async () => {
    await send(1);
    for await (const message of sluice.consume({ signal: stop.signal })) {
      await message.nack({ delaySeconds: 3_600, reason: 'not now' });
      stop.abort();
    }
    expect(await all()).toMatchObject([{ status: 'queued', failureReason: 'not now' }]);
  });

  it('gives back all that it holds when its loop is left', async () => {
    await send(5);
    const failing = async () => {
      for await (const { id } of sluice.consume({ concurrency: 3, leaseSeconds: 3_600 })) throw new Error(id);
    };
    await expect(failing()).rejects.toThrow(/^msg_/);
    // At once, not when the leases end.
    expect(await sluice.leases.lease({ max: 10, wait: 20 })).toHaveLength(5);
  });

  it('gives back what its loop has not got when it is aborted, and leaves the rest to it', async () => {
    await send(3);
    const got: HeldMessage[] = [];
    for await (const message of sluice.consume({ concurrency: 3, leaseSeconds: 3_600, signal: stop.signal })) {
      got.push(message);
      if (got.length === 2) stop.abort();
    }
    expect(got).toHaveLength(2);
    expect(await count('processing')).toBe(2);
    await Promise.all(got.map((message) => message.ack()));
    expect(await sluice.leases.lease({ max: 10, wait: 20 })).toHaveLength(1);
  });

  it('ends at once when it is aborted while it waits for messages', async () => {
    setTimeout(() => {
      stop.abort();
    }, 100);
    const startedAt = performance.now();
    for await (const message of sluice.consume({ signal: stop.signal })) throw new Error(message.id);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it('ends at once when it is aborted while all messages that it may hold are held', async () => {
    await send(2);
    const held: HeldMessage[] = [];
    for await (const message of sluice.consume({ signal: stop.signal })) {
      held.push(message);
      setTimeout(() => {
        stop.abort();
      }, 100);
    }
    expect(held).toHaveLength(1);
    await held[0]?.ack();
  });

  it('fails if it may not lease', async () => {
    const { key } = await sluice.account.keys.create({ name: 'x', scopes: ['messages:read'] });
    const restricted = new Sluice({ apiKey: key, baseUrl: api.url });
    await expect(restricted.consume().next()).rejects.toThrow(expect.objectContaining({ status: 403 }) as Error);
  });

  it('loses no message and no acknowledgement through faults', async () => {
    const faults = { delay: 25, cut: 15, lose: 8, truncate: 5, duplicate: 8, unavailable: 15, page: 10 };
    const proxy = await FaultyProxy.start(api.url, { ...faults, hang: 0, refuse: 0 });
    const faulty = new Sluice({ apiKey: account.key, baseUrl: proxy.url, maxTries: 20 });
    await send(100);
    const acknowledged = new Set<string>();
    const refused = new Map<string, unknown>();
    const work: Promise<unknown>[] = [];
    const delivered = until(async () => (await count('delivered')) === 100).finally(() => {
      stop.abort();
    });
    for await (const message of faulty.consume({ concurrency: 10, leaseSeconds: 5, signal: stop.signal })) {
      const acknowledging = sleep(1)
        .then(() => message.ack())
        .then(
          () => acknowledged.add(message.id),
          (error: unknown) => refused.set(message.id, error),
        );
      work.push(acknowledging);
    }
    await delivered;
    await Promise.all(work);
    proxy.stop();
    // Some may only be confirmed when their lease has ended.
    expect(new Set([...acknowledged, ...refused.keys()]).size).toBe(100);
    expect([...refused.values()].every((error) => error instanceof ConflictError)).toBe(true);
  });
});
