import { PostgresLeases } from '#messages/adapters/postgres/leases/postgres-leases.js';
import { PostgresStrayMessages } from '#delivery/adapters/postgres/postgres-stray-messages.js';
import type { Message } from '#messages/domain/message.js';
import { after, aMessage, anAccountId, claim, claimTerms, jobOf } from '../support/messages.js';
import { InMemoryJobQueue } from './fakes/in-memory-job-queue.js';
import { PostgresStore } from './postgres-store.js';

/** What halts the deliveries of an account, as columns of its row. */
const HALTED = [
  ['suspended', { suspended: true, paused: false }],
  ['paused', { suspended: false, paused: true }],
  ['both', { suspended: true, paused: true }],
] as const;

describe('Of an account whose deliveries are halted', () => {
  let store: PostgresStore;
  let accountId: string;
  beforeAll(async () => {
    store = await PostgresStore.open();
  });
  beforeEach(async () => {
    await store.reset();
    accountId = anAccountId();
    await store.sql(
      `INSERT INTO sluice.accounts (id, name, plan, per_minute, per_day, created_at) VALUES ($1, '', 'free', 1, 1, now())`,
      [accountId],
    );
  });
  afterAll(() => store.close());

  const change = ({ suspended = false, paused = false }) =>
    store.sql('UPDATE sluice.accounts SET suspended = $2, paused = $3 WHERE id = $1', [accountId, suspended, paused]);
  const ours = (state: Partial<Message['state']> = {}) => aMessage({ accountId, ...state });
  /** How many messages wait in the outbox until the account is resumed. */
  const waiting = async () => {
    const [row] = await store.sql<{ count: number }>(
      'SELECT coalesce(sum(cardinality(message_ids)), 0)::int AS count FROM sluice.outbox WHERE suspended_account = $1',
      [accountId],
    );
    return row?.count;
  };
  const sweeper = async () => {
    const { outbox } = await store.process();
    return async () => {
      const swept: string[] = [];
      const relay = (all: readonly Message[]) =>
        Promise.resolve(new Set<string>(void swept.push(...all.map(({ id }) => id))));
      while ((await outbox.sweep(0, relay)) > 0);
      return swept.sort();
    };
  };

  /** Every way in which a message gets on its way to a handler, with one message of the account and one of another. */
  const WAYS: readonly (readonly [string, (parts: Parts) => Promise<readonly Message[]>])[] = [
    [
      'sent',
      async ({ process }) => {
        const [own, other] = [ours(), aMessage()];
        await Promise.all([process.messages.add([own], null), process.messages.add([other], null)]);
        return [own, other];
      },
    ],
    [
      'sent together with messages of other modes',
      async ({ process }) => {
        const [own, other, pulled] = [ours(), aMessage(), aMessage({ delivery: 'pull' })];
        await Promise.all([own, other, pulled].map((message) => process.messages.add([message], null)));
        return [own, other];
      },
    ],
    [
      'sent with a key',
      async ({ process }) => {
        const [own, other] = [ours(), aMessage()];
        const idempotency = { key: 'key', fingerprint: Buffer.alloc(32) };
        await Promise.all([own, other].map((message) => process.messages.add([message], idempotency)));
        return [own, other];
      },
    ],
    [
      'retried',
      async ({ process }) => {
        const failed = [ours({ status: 'failed' }), aMessage({ status: 'failed' })];
        for (const message of failed) {
          await store.put(message);
          await process.messages.change(message.state.accountId, message.id, (one) => one.retry(after(1)));
        }
        return failed;
      },
    ],
    [
      'retried with all that failed',
      async ({ process }) => {
        const failed = [ours({ status: 'failed' }), aMessage({ status: 'failed' })];
        for (const message of failed) {
          await store.put(message);
          await process.messages.retryFailed(
            message.state.accountId,
            { type: null, since: null, until: new Date() },
            10,
          );
        }
        return failed;
      },
    ],
    [
      'due that was scheduled',
      async ({ process }) => {
        const deliverAt = new Date(Date.now() + 3_600_000);
        const scheduled = [ours({ deliverAt }), aMessage({ deliverAt })];
        for (const message of scheduled) await process.messages.add([message], null);
        expect(await waiting()).toBe(0);
        await store.sql(`UPDATE sluice.outbox SET due_at = now()`);
        return scheduled;
      },
    ],
    [
      'requeued since its job was lost',
      async ({ strays }) => {
        const lost = [ours(), aMessage()];
        for (const message of lost) await store.put(message);
        await strays.requeue((await strays.findAfter('', 10))?.strays ?? []);
        return lost;
      },
    ],
    [
      'claimed by a worker',
      async ({ process }) => {
        const [own, other] = [ours(), aMessage()];
        for (const message of [own, other]) await store.put(message);
        expect(await process.deliveries.claim(jobOf(own), claimTerms())).toBeNull();
        await claim(process.deliveries, other);
        return [own, other];
      },
    ],
    [
      'taken over from a lost worker',
      async ({ process }) => {
        const [own, other] = [ours(), aMessage()];
        for (const message of [own, other]) await store.put(message);
        await change({});
        for (const message of [own, other]) await claim(process.deliveries, message);
        await change({ paused: true });
        expect(await process.deliveries.claim(jobOf(own), claimTerms())).toBeNull();
        return [own, other];
      },
    ],
  ];

  interface Parts {
    readonly process: Awaited<ReturnType<PostgresStore['process']>>;
    readonly strays: PostgresStrayMessages;
  }
  const noJobs = {
    inspect: () => Promise.resolve(new Map()),
    endsOf: () => Promise.resolve(new Map()),
    removeDead: () => Promise.resolve(),
  };
  const open = async (queue = new InMemoryJobQueue()): Promise<Parts> => {
    const process = await store.process(queue);
    return { process, strays: new PostgresStrayMessages(process.database, noJobs) };
  };

  it.each(WAYS)('a message that is %s waits in the outbox, and nothing counts as an attempt', async (what, begin) => {
    await change({ paused: true });
    const queue = new InMemoryJobQueue();
    const parts = await open(queue);
    const [clock] = await store.sql<{ now: Date }>('SELECT clock_timestamp() AS now');
    const [own = aMessage(), other = aMessage()] = await begin(parts);
    const before = await store.find(own);
    const sweep = await sweeper();
    const swept = await sweep();
    await parts.process.relay.close();
    expect([...swept, ...queue.jobs.keys()].map((id) => id.split('.')[0])).not.toContain(own.id);
    expect(await waiting()).toBe(1);
    await store.sql('DELETE FROM sluice.messages WHERE id = $1', [other.id]);
    expect(await parts.strays.count()).toBe(0);
    expect((await parts.strays.findAfter('', 10))?.strays).toEqual([]);
    expect(await store.find(own)).toEqual(before);

    // A worker has a second to remove a job that it has taken.
    const [entry] = await store.sql<{ ms: number }>(
      'SELECT (extract(epoch FROM created_at - $1) * 1000)::float8 AS ms FROM sluice.outbox',
      [clock?.now],
    );
    if (what.includes('worker')) {
      expect(entry?.ms).toBeGreaterThan(999);
      await store.sql(`UPDATE sluice.outbox SET created_at = created_at - interval '1 second'`);
    }
    await change({});
    expect(await sweep()).toEqual([own.id]);
    expect(await waiting()).toBe(0);
  });

  it.each(HALTED)(
    'no message is claimed or leased while it is %s, and those that wait come back',
    async (_what, how) => {
      const { process } = await open();
      const leases = new PostgresLeases(process.database, process.reads, { maxAttempts: 5 }, process.availability);
      const [claimed, leased] = [ours(), ours({ delivery: 'pull' })];
      for (const message of [claimed, leased]) await store.put(message);
      const terms = () => ({ max: 10, leaseMs: 60_000 });
      expect(await leases.isHalted(accountId)).toBe(false);
      await change(how);
      expect(await leases.isHalted(accountId)).toBe(true);
      expect(await process.deliveries.claim(jobOf(claimed), claimTerms())).toBeNull();
      expect((await leases.lease(accountId, terms())).messages).toEqual([]);
      // A consumer that waits asks again in a second, though it is told when the account is resumed.
      expect(await leases.nextIn(accountId)).toBe(1_000);
      for (const message of [claimed, leased]) expect(await store.find(message)).toEqual(message);

      await change({});
      expect(await leases.nextIn(accountId)).toBe(0);
      expect((await leases.lease(accountId, terms())).messages.map(({ id }) => id)).toEqual([leased.id]);
      expect((await claim(process.deliveries, claimed)).state.attempts).toBe(1);
    },
  );

  it('a message of the far future is due at its time, not when its account is resumed', async () => {
    const { process } = await open();
    await change({ paused: true });
    await process.messages.add([ours({ deliverAt: new Date(Date.now() + 3_600_000) })], null);
    const sweep = await sweeper();
    expect(await sweep()).toEqual([]);
    await change({});
    expect(await sweep()).toEqual([]);
  });

  it.each([
    ['pause, suspend, resume, unpause', ['paused', 'suspended', '-suspended', '-paused']],
    ['pause, suspend, unpause, resume', ['paused', 'suspended', '-paused', '-suspended']],
    ['suspend, pause, resume, unpause', ['suspended', 'paused', '-suspended', '-paused']],
    ['suspend, pause, unpause, resume', ['suspended', 'paused', '-paused', '-suspended']],
    ['pause twice, unpause twice', ['paused', 'paused', '-paused', '-paused']],
  ])('a message waits until nothing halts it any more: %s', async (_what, steps) => {
    const { process } = await open();
    await change({ paused: true });
    const own = ours();
    await process.messages.add([own], null);
    const state = { suspended: false, paused: false };
    const sweep = await sweeper();
    const left = [own.id];
    for (const step of steps) {
      state[step.replace('-', '') as keyof typeof state] = !step.startsWith('-');
      await change(state);
      expect(await sweep()).toEqual(state.suspended || state.paused ? [] : left.splice(0));
    }
    expect(left).toEqual([]);
    expect(await waiting()).toBe(0);
  });

  it.each([
    ['resumed', 'suspended = false'],
    ['unpaused', 'paused = false'],
    ['resumed and unpaused at once', 'suspended = false, paused = false'],
  ])('all processes are told that it is %s, and of no other change', async (what, halts) => {
    const listener = await store.transaction('SELECT');
    const heard: (string | undefined)[] = [];
    listener.on('notification', ({ payload }) => heard.push(payload));
    await listener.query('COMMIT; LISTEN sluice_available');
    const set = (changes: string) => store.sql(`UPDATE sluice.accounts SET ${changes} WHERE id = $1`, [accountId]);
    await set('suspended = true, paused = true');
    await set('paused = true');
    await set("name = 'other'");
    if (what === 'resumed') await set('paused = false');
    if (what === 'unpaused') await set('suspended = false');
    await set(halts);
    await set(halts);
    await listener.query('SELECT');
    expect(heard).toEqual([` webhooks ${accountId}`]);
  });
});
