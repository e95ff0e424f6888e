import { randomUUID } from 'node:crypto';
import { PostgresExpiredLeases } from '#messages/adapters/postgres/leases/postgres-expired-leases.js';
import { PostgresLeases } from '#messages/adapters/postgres/leases/postgres-leases.js';
import { Message } from '#messages/domain/message.js';
import { aClaim, after, aMessage, anAccountId, messages, SENT_AT } from '../support/messages.js';
import { PostgresStore, type StoreProcess } from './postgres-store.js';

const policy = { maxAttempts: 5 };
const terms = (max = 10) => ({ max, leaseMs: 60_000 });
const lapsed = () => aClaim({ expiresAt: new Date(Date.now() - 1_000) });

/** But for what the store decides: times and the token. */
function comparable(message: Message | null | undefined) {
  const { updatedAt, claim, ...state } = message?.state ?? aMessage().state;
  return { ...state, isClaimed: claim !== null, isNew: updatedAt > SENT_AT };
}

describe('PostgresLeases', () => {
  let store: PostgresStore;
  let process: StoreProcess;
  let leases: PostgresLeases;
  let accountId: string;
  beforeAll(async () => {
    store = await PostgresStore.open();
    process = await store.process();
    leases = new PostgresLeases(process.database, process.reads, policy, process.availability);
  });
  beforeEach(async () => {
    await store.reset();
    accountId = anAccountId();
  });
  afterAll(() => store.close());

  const put = async (state: Partial<Message['state']> = {}) => {
    const message = aMessage({ accountId, delivery: 'pull', ...state });
    await store.put(message);
    return message;
  };
  const leaseOf = ({ id, state }: Message) => ({ id, token: state.claim?.token ?? '', attempt: state.attempts });

  it('changes messages as their own methods do', async () => {
    const at = after(1);
    const queued = await put();
    const expired = await put({ status: 'processing', attempts: 3, failures: 1, crashes: 1, claim: lapsed() });
    const spent = await put({ status: 'processing', attempts: 5, failures: 2, crashes: 2, claim: lapsed() });
    const { messages: leased, expired: count } = await leases.lease(accountId, terms());
    expect(count).toBe(2);
    const of = ({ id }: Message) => leased.find((message) => message.id === id);
    expect(leased).toHaveLength(2);
    expect(comparable(of(queued))).toEqual(comparable(queued.startProcessing(aClaim(), at)));
    expect(comparable(of(expired))).toEqual(comparable(expired.takeOver(aClaim(), at)));
    expect(comparable(await store.find(spent))).toEqual(comparable(spent.expire(at, policy)));

    const [first, second] = leased as [Message, Message];
    expect(await leases.acknowledge(accountId, [leaseOf(first)])).toEqual([true]);
    expect(comparable(await store.find(first))).toEqual(comparable(first.deliver(at)));
    expect(await leases.reject(second, second.requeue('no', at), 0)).toBe(true);
    expect(comparable(await store.find(second))).toEqual(comparable(second.requeue('no', at)));
  });

  it('agrees with the domain on the last attempt', async () => {
    const counts = [0, 1, 2, 3, 4, 5];
    const all: Message[] = [];
    for (const failures of counts) {
      for (const crashes of counts) {
        const attempts = failures + crashes + 1;
        all.push(await put({ status: 'processing', attempts, failures, crashes, claim: lapsed() }));
      }
    }
    const { messages: leased } = await leases.lease(accountId, terms(100));
    const last = all.filter((message) => message.isLastAttempt(policy));
    expect(last.length).toBeGreaterThan(0);
    const ids = leased.map(({ id }) => id).sort();
    expect(ids).toEqual(
      all
        .filter((message) => !last.includes(message))
        .map(({ id }) => id)
        .sort(),
    );
    for (const message of last) expect((await store.find(message))?.state.status).toBe('failed');
  });

  // PostgreSQL 18 crashed with all its sessions while it looked for the partitions of the messages after them.
  it('acknowledges messages of several partitions of which another transaction has just changed some', async () => {
    for (let n = 10; n < 50; n++) await put({ id: `msg_${n % 2 === 0 ? '0' : '7'}00000000000000000000000${n}` });
    const { messages: leased } = await leases.lease(accountId, terms(40));
    const other = await store.transaction(`UPDATE sluice.messages SET updated_at = updated_at WHERE id LIKE '%00%2_'`);
    const acknowledged = leases.acknowledge(accountId, leased.map(leaseOf));
    await store.somebodyWaits();
    await other.query('COMMIT');
    expect(await acknowledged).toEqual(leased.map(() => true));
  });

  describe('responds to an end that waits for the same one elsewhere as to the first', () => {
    const at = after(1);
    type End = (by: PostgresLeases, leased: readonly Message[]) => Promise<unknown>;
    const acknowledge: End = (by, leased) => by.acknowledge(accountId, leased.map(leaseOf));
    const reject: End = async (by, [message = aMessage()]) =>
      (await by.reject(message, message.requeue('no', at), 60_000)) || by.wasRejected(accountId, leaseOf(message));
    const extend: End = async (by, [message = aMessage()]) =>
      (await by.extend(accountId, leaseOf(message), 60_000)) !== null;

    it.each<[string, { first: End; then?: End; count: number; expected: unknown }]>([
      ['acknowledged', { first: acknowledge, count: 1, expected: [true] }],
      ['acknowledged together', { first: acknowledge, count: 3, expected: [true, true, true] }],
      [
        'acknowledged in part',
        {
          first: (by, leased) => acknowledge(by, leased.slice(1)),
          then: acknowledge,
          count: 3,
          expected: [true, true, true],
        },
      ],
      ['rejected', { first: reject, count: 1, expected: true }],
      ['extended', { first: extend, count: 1, expected: true }],
      ['rejected, then acknowledged', { first: reject, then: acknowledge, count: 1, expected: [false] }],
      ['acknowledged, then rejected', { first: acknowledge, then: reject, count: 1, expected: false }],
      ['acknowledged, then extended', { first: acknowledge, then: extend, count: 1, expected: false }],
    ])('%s', async (_what, { first, then = first, count, expected }) => {
      for (let n = 0; n < count; n++) await put();
      const { messages: leased } = await leases.lease(accountId, terms());
      const client = await store.transaction('SELECT');
      const rows = async (text: string, values?: unknown[]) => (await client.query(text, values)).rows as never;
      const uncommitted = {
        query: rows,
        prepared: (_name: string, text: string, values: unknown[]) => rows(text, values),
        limited: (_id: string, work: () => Promise<never>) => work(),
      } as unknown as StoreProcess['database'];
      await first(new PostgresLeases(uncommitted, process.reads, policy, process.availability), leased);
      const second = then(leases, leased);
      await store.somebodyWaits();
      await client.query('COMMIT');
      expect(await second).toEqual(expected);
    });
  });

  it('gives no message to two of many that lease at once in two processes', async () => {
    const other = await store.process();
    const elsewhere = new PostgresLeases(other.database, other.reads, policy, other.availability);
    for (const message of messages(300, { accountId, delivery: 'pull' })) await store.put(message);
    const leased: string[] = [];
    const leaseAll = async (by: PostgresLeases) => {
      for (;;) {
        const { messages: found, mayBeMore } = await by.lease(accountId, terms(7));
        leased.push(...found.map(({ id }) => id));
        const results = await by.acknowledge(accountId, found.map(leaseOf));
        expect(results).toEqual(found.map(() => true));
        if (found.length === 0 && !mayBeMore) return;
      }
    };
    await Promise.all([leases, elsewhere].flatMap((by) => Array.from({ length: 8 }, () => leaseAll(by))));
    expect(leased).toHaveLength(300);
    expect(new Set(leased).size).toBe(300);
    const [row] = await store.sql<{ delivered: number; attempts: number }>(
      `SELECT (SELECT count(*)::int FROM sluice.messages WHERE status = 'delivered' AND attempts = 1) AS delivered,
              (SELECT count(*)::int FROM sluice.attempts WHERE outcome = 'delivered') AS attempts`,
    );
    expect(row).toEqual({ delivered: 300, attempts: 300 });
  });

  it('leases only what was not acknowledged when the same is asked of two at once', async () => {
    await put();
    const [leased] = (await leases.lease(accountId, terms())).messages;
    const lease = leaseOf(leased ?? aMessage());
    const results = await Promise.all(Array.from({ length: 10 }, () => leases.acknowledge(accountId, [lease, lease])));
    expect(results).toEqual(Array(10).fill([true, true]));
    expect(await store.sql('SELECT number FROM sluice.attempts')).toEqual([{ number: 1 }]);
  });

  it('looks for further messages when all that it has found have used up their attempts', async () => {
    const spent = { status: 'processing', attempts: 5, failures: 4, claim: lapsed() } as const;
    for (let n = 0; n < 3; n++) await put(spent);
    // The oldest are found first.
    const held = await put({ createdAt: new Date() });
    const { messages: leased, expired } = await leases.lease(accountId, terms(1));
    expect({ leased: leased.map(({ id }) => id), expired }).toEqual({ leased: [held.id], expired: 3 });
  });

  it('leases nothing of a suspended account until it is resumed', async () => {
    await store.sql(`INSERT INTO sluice.accounts VALUES ($1, 'Test', 'pro', 1, 1, 0, now())`, [accountId]);
    const suspend = (suspended: boolean) =>
      store.sql('UPDATE sluice.accounts SET suspended = $2 WHERE id = $1', [accountId, suspended]);
    const held = await put();
    await suspend(true);
    expect((await leases.lease(accountId, terms())).messages).toEqual([]);
    expect((await store.find(held))?.state).toMatchObject({ status: 'queued', attempts: 0 });
    await suspend(false);
    expect((await leases.lease(accountId, terms())).messages.map(({ id }) => id)).toEqual([held.id]);
  });

  describe('changes nothing', () => {
    const right = (leased: Message) => ({ by: accountId, lease: leaseOf(leased) });
    it.each([
      ['of another account', (leased: Message) => ({ ...right(leased), by: anAccountId() })],
      [
        'under another token',
        (leased: Message) => ({ by: accountId, lease: { ...leaseOf(leased), token: randomUUID() } }),
      ],
      ['of another attempt', (leased: Message) => ({ by: accountId, lease: { ...leaseOf(leased), attempt: 2 } })],
      [
        'that has expired',
        async (leased: Message) => {
          await store.sql(`UPDATE sluice.messages SET claim_expires_at = now() - interval '1 second'`);
          return right(leased);
        },
      ],
      [
        'that another one has replaced',
        async (leased: Message) => {
          await store.sql(`UPDATE sluice.messages SET claim_expires_at = now(), available_at = now()`);
          await leases.lease(accountId, terms());
          return right(leased);
        },
      ],
      [
        'of a worker, not of a client',
        async (leased: Message) => {
          await store.sql(`UPDATE sluice.messages SET delivery = 'handler', available_at = NULL`);
          return right(leased);
        },
      ],
    ])('for a lease %s', async (_what, wrong) => {
      await put();
      const [leased = aMessage()] = (await leases.lease(accountId, terms())).messages;
      expect(leased.state.accountId).toBe(accountId);
      const { by, lease } = await wrong(leased);
      const everything = () =>
        store.sql(
          'SELECT to_jsonb(m) AS m, to_jsonb(a) AS a FROM sluice.messages m FULL JOIN sluice.attempts a ON true',
        );
      const before = await everything();
      expect(await leases.acknowledge(by, [lease])).toEqual([false]);
      expect(await leases.find(by, lease)).toBeNull();
      expect(await leases.extend(by, lease, 60_000)).toBeNull();
      const held = Message.restore({
        ...leased.state,
        ...{ accountId: by, attempts: lease.attempt, claim: { ...aClaim(), token: lease.token } },
      });
      expect(await leases.reject(held, held.requeue('no', after(1)), 0)).toBe(false);
      expect(await leases.wasRejected(by, lease)).toBe(false);
      expect(await everything()).toEqual(before);
    });
  });

  it('recognizes a repeated acknowledgement, but not of another account, lease or attempt', async () => {
    await put();
    const [leased = aMessage()] = (await leases.lease(accountId, terms())).messages;
    const lease = leaseOf(leased);
    const others = [
      { ...lease, token: randomUUID() },
      { ...lease, attempt: 2 },
    ];
    expect(await leases.acknowledge(accountId, [lease])).toEqual([true]);
    expect(await leases.acknowledge(accountId, [...others, lease])).toEqual([false, false, true]);
    expect(await leases.acknowledge(anAccountId(), [lease])).toEqual([false]);
  });

  it('recognizes a repeated rejection, but not of another account, lease or attempt', async () => {
    await put();
    const [leased = aMessage()] = (await leases.lease(accountId, terms())).messages;
    const lease = leaseOf(leased);
    expect(await leases.reject(leased, leased.requeue('no', after(1)), 60_000)).toBe(true);
    expect(await leases.wasRejected(accountId, lease)).toBe(true);
    expect(await leases.wasRejected(anAccountId(), lease)).toBe(false);
    expect(await leases.wasRejected(accountId, { ...lease, token: randomUUID() })).toBe(false);
    expect(await leases.wasRejected(accountId, { ...lease, attempt: 2 })).toBe(false);
  });

  it('knows when the next message may be leased', async () => {
    expect(await leases.nextIn(accountId)).toBeNull();
    await put({ deliverAt: new Date(Date.now() + 60_000) });
    const ms = (await leases.nextIn(accountId)) ?? 0;
    expect(Math.abs(ms - 60_000)).toBeLessThan(10_000);
    await put();
    expect(await leases.nextIn(accountId)).toBe(0);
  });

  it('ends expired leases of messages that nobody asks for, of every account', async () => {
    const spent = { status: 'processing', attempts: 5, failures: 4 } as const;
    const expired = [
      await put({ ...spent, claim: lapsed() }),
      await put({ ...spent, claim: lapsed(), accountId: anAccountId() }),
      await put({ ...spent, failures: 2, crashes: 1, failureReason: 'no', claim: lapsed() }),
    ];
    const others = [
      await put({ ...spent, claim: aClaim({ expiresAt: new Date(Date.now() + 60_000) }) }),
      await put(),
      await put({ ...spent, delivery: 'handler', claim: lapsed() }),
    ];
    const leasesThatExpired = new PostgresExpiredLeases(process.database, policy, process.availability);
    expect(await leasesThatExpired.end(10)).toBe(3);
    for (const message of expired)
      expect(comparable(await store.find(message))).toEqual(comparable(message.expire(after(1), policy)));
    for (const message of others) expect((await store.find(message))?.state.status).toBe(message.state.status);
    expect(await store.sql('SELECT outcome, target FROM sluice.attempts')).toEqual(
      Array(3).fill({ outcome: 'lost', target: 'pull' }),
    );
    expect(await leasesThatExpired.end(10)).toBe(0);
    const requeued = await leases.lease(expired[2]?.state.accountId ?? '', terms());
    expect(requeued.messages.map(({ id }) => id)).toContain(expired[2]?.id);
    expect(requeued.expired).toBe(0);
  });

  it('leases on while a newer version adds a column', async () => {
    const held = [await put(), await put()];
    expect((await leases.lease(accountId, terms(1))).messages).toHaveLength(1);
    await store.sql('ALTER TABLE sluice.messages ADD COLUMN of_a_newer_version integer');
    try {
      for (let connection = 0; connection < 4; connection++) await leases.lease(anAccountId(), terms(1));
      expect((await leases.lease(accountId, terms(2))).messages).toHaveLength(held.length - 1);
    } finally {
      await store.sql('ALTER TABLE sluice.messages DROP COLUMN of_a_newer_version');
    }
  });
});
