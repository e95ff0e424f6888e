import { ApplyRetention } from '#upkeep/application/apply-retention.js';
import { Partitions, type Period } from '#upkeep/application/partitions.js';
import { CLAIM } from '#messages/adapters/postgres/claims/claim.sql.js';
import { SETTLE } from '#messages/adapters/postgres/claims/settle.sql.js';
import { ACKNOWLEDGE } from '#messages/adapters/postgres/leases/lease.sql.js';
import { FIND_MESSAGES } from '#messages/adapters/postgres/reading/read-messages.sql.js';
import { END_MESSAGES, LEASE_DELIVERIES, LOCK_MESSAGES } from '#webhooks/adapters/postgres/endpoint-deliveries.sql.js';
import { RetentionMonitor } from '#upkeep/adapters/monitoring/retention-monitor.js';
import { PostgresPartitions } from '#upkeep/adapters/postgres/postgres-partitions.js';
import { DELIVERY_MODE_NAMES } from '#kernel/delivery-mode.js';
import type { Message, MessageState } from '#messages/domain/message.js';
import { createLogger } from '#platform/observability/logging.js';
import { Metrics } from '#platform/observability/metrics.js';
import {
  after,
  aMessage,
  anAccountId,
  claim,
  claimTerms,
  FIRST_PAGE,
  idempotency,
  jobOf,
} from '../support/messages.js';
import { PostgresStore, type StoreProcess } from './postgres-store.js';

const DAY_MS = 86_400_000;
const days = (count: number, moment: Date) => after(count * DAY_MS, moment);

/** Usage that is counted. */
const SETTLED = { execute: () => Promise.resolve(true) };

/** The partitions of a store whose clock shows another time. */
class PartitionsAt extends Partitions {
  constructor(
    private readonly real: Partitions,
    private readonly now: Date,
  ) {
    super();
  }

  override list = async () => ({ ...(await this.real.list()), now: this.now });
  override add = (period: Period) => this.real.add(period);
  override empty = (period: Period) => this.real.empty(period);
  override remove = (period: Period) => this.real.remove(period);
  override removeStragglers = (before: Date) => this.real.removeStragglers(before);
}

describe('Messages that are old', () => {
  let store: PostgresStore;
  let process: StoreProcess;
  let partitions: PostgresPartitions;
  /** The end of what a new store has. */
  let start: Date;

  beforeEach(async () => {
    store = await PostgresStore.open();
    process = await store.process();
    partitions = new PostgresPartitions(process.database);
    start = (await partitions.list()).periods[0]?.until ?? new Date(NaN);
  });
  afterEach(() => store.close());

  /** What a run removes and leaves at a time, for messages that are kept for 30 days. */
  const retainedAt = (now: Date) =>
    new ApplyRetention(new PartitionsAt(partitions, now), SETTLED, 30, { ran: () => undefined }).execute(
      new AbortController().signal,
    );

  /** In days from the end of what a new store has. */
  const period = (from: number, until: number) => ({ from: days(from, start), until: days(until, start) });
  const periods = async () => (await partitions.list()).periods;
  const places = async () => {
    const rows = await store.sql<{ id: string; place: string }>(
      `SELECT id, (SELECT relname FROM pg_class WHERE oid = m.tableoid) AS place FROM sluice.messages m`,
    );
    return Object.fromEntries(rows.map(({ id, place }) => [id, place]));
  };

  /** A message that was delivered, but for what is given, with an attempt, and counted as stored. */
  async function old(createdAt: Date, state: Partial<MessageState> = {}): Promise<Message> {
    const message = aMessage({ createdAt, updatedAt: createdAt, status: 'delivered', attempts: 1, ...state });
    await store.put(message);
    await store.sql(
      `INSERT INTO sluice.attempts (message_id, number, account_id, started_at, outcome) VALUES ($1, 1, 'acct', $2, 'lost')`,
      [message.id, createdAt],
    );
    await store.sql(
      `INSERT INTO sluice.storage AS s (account_id, day, bytes, messages) VALUES ($1, $2::date, 261, 1)
       ON CONFLICT (account_id, day) DO UPDATE SET bytes = s.bytes + 261, messages = s.messages + 1`,
      [message.state.accountId, createdAt.toISOString().slice(0, 10)],
    );
    return message;
  }

  const counts = async () => {
    const [row] = await store.sql<{ messages: number; attempts: number; stored: number }>(
      `SELECT (SELECT count(*) FROM sluice.messages)::int AS messages, (SELECT count(*) FROM sluice.attempts)::int AS attempts,
              (SELECT coalesce(sum(messages), 0) FROM sluice.storage)::int AS stored`,
    );
    return row;
  };

  describe('have partitions that are added in advance', () => {
    it('for a week, in a new store', async () => {
      const { now, periods: made } = await partitions.list();
      expect(made).toEqual([{ from: new Date(0), until: start }]);
      // The store was made earlier, maybe yesterday.
      expect(start.getTime() - now.getTime()).toBeGreaterThan(6.5 * DAY_MS);
      await retainedAt(days(-7.5, start));
      expect(await periods()).toEqual(made);
    });

    it('for a week, by periods of a tenth of the time that messages are kept', async () => {
      await retainedAt(start);
      expect((await periods()).slice(1)).toEqual([period(0, 3), period(3, 6), period(6, 9)]);
    });

    it('in one period when no process has run for long', async () => {
      await retainedAt(days(100.5, start));
      expect(await periods()).toEqual([period(0, 103), period(103, 106), period(106, 109)]);
    });

    it('also for those that came from a clock that was ahead', async () => {
      const [within, beyond] = [await old(days(4, start)), await old(days(400, start))];
      expect(new Set(Object.values(await places()))).toEqual(new Set(['messages_after']));
      await retainedAt(start);
      expect((await places())[within.id]).toMatch(/^messages_\d{8}_\d{8}$/);
      expect((await places())[beyond.id]).toBe('messages_after');
      expect(await store.find(within)).toEqual(within);
      expect(await process.messages.attempts('acct_of_nobody', within.id)).toHaveLength(1);
      expect(await store.sql('SELECT FROM sluice.attempts_after')).toHaveLength(1);
    });

    it('by one of several processes that try at the same time', async () => {
      await Promise.all([retainedAt(start), retainedAt(start), retainedAt(start)]);
      expect(await periods()).toHaveLength(4);
    });
  });

  describe('and of one day', () => {
    /** The partitions in which a statement looks for these messages. */
    async function searched(statement: typeof CLAIM, ids: readonly string[], now: Date): Promise<string[]> {
      const explain = `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${statement.for(ids, now.getTime()).text}`;
      const plan = JSON.stringify(await process.database.query(explain));
      return [
        ...new Set([...plan.matchAll(/"(messages_(?:\d{8}_\d{8}|before|after))"/g)].map(([, name = '']) => name)),
      ];
    }

    it.each([
      ['claim', CLAIM],
      ['settle', SETTLE],
      ['acknowledge', ACKNOWLEDGE],
      ['lock', LOCK_MESSAGES],
      ['lease', LEASE_DELIVERIES],
      ['end', END_MESSAGES],
      ['find', FIND_MESSAGES],
    ])('are looked for in one partition: %s', async (_, statement) => {
      // The first period goes, and four more come.
      await retainedAt(days(40, start));
      const all = await periods();
      for (const { from, until } of all) {
        for (const at of [from, days(-0.001, until)]) {
          const { id } = aMessage({ createdAt: at });
          expect(await searched(statement, [id, id], at)).toEqual([expect.stringMatching(/^messages_\d{8}_\d{8}$/)]);
        }
      }
      expect(await searched(statement, [aMessage({ createdAt: days(-1, start) }).id], days(-1, start))).toEqual([
        'messages_before',
      ]);
      const several = [0, 3].map((count) => aMessage({ createdAt: days(count, start) }).id);
      expect(await searched(statement, several, start)).toHaveLength(all.length + 2);
    });
  });

  describe('are removed', () => {
    // So that no run has to add partitions as well.
    beforeEach(() => retainedAt(days(29.5, start)));

    it('when all of their period were created 30 days ago, with attempts and what they count as stored', async () => {
      await old(days(-3, start));
      await old(days(-2, start), { status: 'failed', failureReason: 'refused' });
      await old(days(-1, start), { status: 'cancelled' });
      const young = await old(days(1, start));
      expect((await retainedAt(days(29.9, start))).removed).toEqual([]);
      expect(await counts()).toEqual({ messages: 4, attempts: 4, stored: 4 });
      expect((await retainedAt(days(30, start))).removed).toEqual([{ from: new Date(0), until: start }]);
      expect(await counts()).toEqual({ messages: 1, attempts: 1, stored: 1 });
      expect(await store.find(young)).toEqual(young);
      expect((await periods())[0]?.from).toEqual(start);
    });

    it('with what retries have stored while there were no new messages', async () => {
      const day = days(-1, start).toISOString().slice(0, 10);
      await store.sql(`INSERT INTO sluice.storage (account_id, day, bytes, messages) VALUES ('acct', $1, 1024, 0)`, [
        day,
      ]);
      await retainedAt(days(30, start));
      expect(await store.sql('SELECT FROM sluice.storage')).toEqual([]);
    });

    const held = { token: '00000000-0000-4000-8000-000000000000', expiresAt: new Date(0), alone: false };
    it.each(
      DELIVERY_MODE_NAMES.flatMap(
        (delivery) =>
          [
            { delivery, status: 'queued', claim: null },
            { delivery, status: 'processing', claim: held },
          ] as const,
      ),
    )('but not those of a period with one that is $status for delivery by $delivery', async (state) => {
      const open = await old(days(-2, start), state);
      const [beside, later] = [await old(days(-1, start)), await old(days(1, start))];
      const { removed } = await retainedAt(days(100, start));
      expect(removed.map(({ from }) => from)).toEqual([start]);
      expect(Object.keys(await places()).sort()).toEqual([open.id, beside.id].sort());
      // The emptied one stays between, so that every id has a place.
      await store.put(aMessage({ createdAt: later.state.createdAt }));
      await store.sql(
        `UPDATE sluice.messages SET status = 'failed', claim = NULL, claim_expires_at = NULL, available_at = NULL`,
      );
      expect((await retainedAt(days(100, start))).removed).toHaveLength(2);
      expect(await counts()).toMatchObject({ messages: 0 });
      expect((await periods())[0]?.from.getTime()).toBeGreaterThan(start.getTime());
    });

    it('and are gone for late jobs, retries and lists', async () => {
      const { messages, deliveries } = process;
      const claimOne = async (createdAt: Date) => {
        const message = aMessage({ createdAt });
        await store.put(message);
        return claim(deliveries, message);
      };
      const settle = (claimed: Message) => deliveries.settle(claimed, claimed.deliver(start));
      const failed = await old(days(-1, start), { status: 'failed' });
      const { accountId } = failed.state;
      const held = await claimOne(days(-1, start));
      await settle(held);
      await retainedAt(days(30, start));
      expect(await deliveries.claim(jobOf(failed), claimTerms())).toBeNull();
      const neighbour = await claimOne(days(2, start));
      expect(await Promise.all([settle(held), settle(neighbour)])).toEqual([false, true]);
      expect(process.faults).toEqual([]);
      expect(await messages.find(accountId, failed.id)).toBeNull();
      expect(await messages.attempts(accountId, failed.id)).toBeNull();
      expect(await messages.change(accountId, failed.id, (message) => message.retry(start))).toBeNull();
      const { messages: listed } = await messages.list(accountId, FIRST_PAGE);
      expect(listed.map(({ id }) => id)).toEqual([neighbour.id]);
    });

    it('while their idempotency keys still return the first response', async () => {
      const { messages } = process;
      const message = aMessage({ createdAt: days(-1, start) });
      const key = idempotency('key');
      await messages.add([message], key);
      await store.sql(`UPDATE sluice.messages SET status = 'delivered'`);
      await retainedAt(days(30, start));
      const again = await messages.add([aMessage({ createdAt: days(-1, start) })], key);
      expect(again).toMatchObject({ replayed: true, messages: [{ id: message.id }] });
    });

    it('unless one is retried just then: it is open and all of its period are kept', async () => {
      const failed = await old(days(-1, start), { status: 'failed' });
      const retry = `UPDATE sluice.messages SET status = 'queued' WHERE id = $1`;
      const retrying = await store.transaction(retry, [failed.id]);
      const retained = retainedAt(days(30, start));
      await store.somebodyWaits();
      await retrying.query('COMMIT');
      expect((await retained).removed).toEqual([]);
      expect(await counts()).toMatchObject({ messages: 1, attempts: 1 });
    });

    it('and not half of them when the connection is cut off; the next run does it', async () => {
      await old(days(-1, start));
      const counting = await store.transaction('LOCK TABLE sluice.storage');
      const retained = retainedAt(days(30, start));
      await store.somebodyWaits();
      await store.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      await counting.query('COMMIT');
      expect((await retained).faults).toMatchObject([{ code: 'unavailable' }]);
      expect(await counts()).toEqual({ messages: 1, attempts: 1, stored: 1 });
      expect((await retainedAt(days(30, start))).removed).toHaveLength(1);
      expect(await counts()).toEqual({ messages: 0, attempts: 0, stored: 0 });
    });

    it('later, when a long transaction reads them, and nothing else waits for that', async () => {
      const { messages } = process;
      await old(days(-1, start));
      const reader = await store.transaction('SELECT FROM sluice.messages');
      let added = 0;
      const adding = setInterval(() => {
        void messages.add([aMessage({ createdAt: days(1, start) })], null).then(() => added++);
      }, 20);
      const retained = retainedAt(days(30, start)).finally(() => {
        clearInterval(adding);
      });
      expect(await retained).toMatchObject({ removed: [], faults: [{ cause: { code: '55P03' } }] });
      await messages.idle();
      expect(added).toBeGreaterThan(10);
      expect(process.faults).toEqual([]);
      await reader.query('COMMIT');
      expect((await retainedAt(days(30, start))).removed).toHaveLength(1);
    });
  });

  describe('and due', () => {
    /** What a run reports when the messages of two periods are due. */
    async function reported(usage = SETTLED) {
      const metrics = new Metrics();
      const lines: string[] = [];
      const write = (line: string) => lines.push((JSON.parse(line) as { msg: string }).msg);
      const monitor = new RetentionMonitor(metrics, createLogger('warn', 'test', { write }));
      const { signal } = new AbortController();
      const hasty = new PostgresPartitions(process.database, 10);
      await new ApplyRetention(new PartitionsAt(hasty, days(33, start)), usage, 30, monitor).run(signal);
      const text = await metrics.text();
      const counted = (name: string) =>
        Number(new RegExp(`^sluice_retention_${name}_total (\\d+)$`, 'm').exec(text)?.[1]);
      return { removed: counted('removed_periods'), failures: counted('failures'), lines: lines.length };
    }

    beforeEach(async () => {
      await retainedAt(start);
      await old(days(-1, start));
      await old(days(1, start));
    });

    const reading = (name: string) => async () => {
      const reader = await store.transaction(`SELECT FROM ${name}`);
      return () => reader.query('COMMIT');
    };
    const opened = async () => {
      const { id } = await old(days(-1, start), { status: 'queued' });
      return () => store.sql(`UPDATE sluice.messages SET status = 'failed' WHERE id = $1`, [id]);
    };
    const readingOldest = async () => reading(`sluice.${Object.values(await places()).sort()[0] ?? ''}`)();
    const nothing = () => Promise.resolve(() => Promise.resolve());

    it.each([
      ['nothing else', nothing, SETTLED, [2, 0, 0]],
      ['one that is open', opened, SETTLED, [1, 0, 0]],
      ['a transaction that has read one', readingOldest, SETTLED, [1, 1, 1]],
      // The coming period is not added, and the oldest, which is empty, not dropped.
      ['a transaction that has looked for others', reading('ONLY sluice.messages'), SETTLED, [2, 1, 2]],
      ['usage that is not counted', nothing, { execute: () => Promise.resolve(false) }, [0, 1, 2]],
    ] as const)(
      'are removed, but for a period that fails, which is counted and logged: with %s',
      async (_, keep, usage, [removed, failures, lines]) => {
        const end = await keep();
        expect(await reported(usage)).toEqual({ removed, failures, lines });
        await end();
        expect(await reported()).toEqual({ removed: 2 - removed, failures: 0, lines: 0 });
        expect(await counts()).toMatchObject({ messages: 0 });
      },
    );
  });

  it('are removed from outside all periods when they are final and have not changed for 30 days', async () => {
    const accountId = anAccountId();
    const odd = days(4_000, start);
    const changed = { accountId, updatedAt: days(-1, start) };
    await old(odd, changed);
    const kept = [
      await old(odd, { ...changed, status: 'queued' }),
      await old(odd, { ...changed, updatedAt: days(1, start) }),
    ].map(({ id }) => id);
    const early = await old(new Date(0), { accountId: anAccountId() });
    await store.sql(`UPDATE sluice.messages SET status = 'queued' WHERE id = $1`, [early.id]);
    const alone = await old(odd, { ...changed, accountId: anAccountId() });
    // For a delivery to an endpoint.
    await store.sql(`UPDATE sluice.storage SET bytes = bytes + 1024 WHERE account_id = $1`, [alone.state.accountId]);
    expect((await retainedAt(days(30, start))).stragglers).toBe(2);
    expect(Object.keys(await places()).sort()).toEqual([...kept, early.id].sort());
    expect(await counts()).toEqual({ messages: 3, attempts: 3, stored: 3 });
    const left = 'SELECT bytes::int FROM sluice.storage WHERE account_id = $1';
    expect(await store.sql(left, [alone.state.accountId])).toEqual([{ bytes: 0 }]);
  });
});
