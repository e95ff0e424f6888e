import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresBacklogs } from '#messages/adapters/postgres/reading/postgres-backlogs.js';
import { PostgresEndpointDeliveries } from '#webhooks/adapters/postgres/postgres-endpoint-deliveries.js';
import { PostgresMessages } from '#messages/adapters/postgres/postgres-messages.js';
import { WEBHOOKS, type Availability } from '#messages/application/delivering/availability.js';
import { MESSAGE_STATUSES, type MessageStatus } from '#messages/domain/message-status.js';
import type { Database } from '#platform/database/database.js';
import { Reads } from '#platform/database/reads.js';
import { until } from '../support/processes.js';
import { PostgresStore, type StoreProcess } from './postgres-store.js';

interface Plan {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

/** Rows that a plan has read from tables. */
function rowsOf(plan: Plan): number {
  const { 'Rows Removed by Filter': removed = 0, Plans: plans = [] } = plan;
  const own = plan['Relation Name'] === undefined ? 0 : (plan['Actual Rows'] + removed) * plan['Actual Loops'];
  return plans.reduce((sum, child) => sum + rowsOf(child), own);
}

describe('A read of an account with many messages', () => {
  let store: PostgresStore;
  let process: StoreProcess;
  beforeAll(async () => {
    store = await PostgresStore.open();
    process = await store.process();
    // Statistics of one account with one status: a planner that believes them walks all its messages.
    await fill('delivered', 1);
    await store.sql('ANALYZE sluice.messages');
    await fill('queued', 2);
    await fill('delivered', 3);
    await store.sql(
      `INSERT INTO sluice.attempts (message_id, number, account_id, started_at, ended_at, outcome)
       SELECT 'msg_' || lpad(n::text, 26, '0'), a, 'one', now(), now(), 'delivered'
       FROM generate_series(1, 100) AS n, generate_series(1, 30) AS a`,
    );
  });
  afterAll(() => store.close());

  const fill = (status: MessageStatus, block: number) =>
    store.sql(
      `INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at)
       SELECT 'msg_' || lpad(($2 * 10000 + n)::text, 26, '0'), 'one', 'x', $1, now(), now()
       FROM generate_series(1, 5000) AS n`,
      [status, block],
    );

  async function rowsRead(read: () => Promise<unknown>): Promise<number> {
    const query = jest.spyOn(process.reads, 'query');
    await read();
    const [, , text = '', values = []] = query.mock.calls[0] ?? [];
    query.mockRestore();
    // Prepared as `Reads` does: EXPLAIN alone plans for the values.
    return process.reading.transaction(async (client) => {
      await client.query(`PREPARE read AS ${text}`);
      const literals = values.map((value) => (typeof value === 'number' ? value : `'${literalOf(value)}'`));
      const explain = `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE read (${literals.join()})`;
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(explain);
      await client.query('DEALLOCATE read');
      return rows[0] === undefined ? NaN : rowsOf(rows[0]['QUERY PLAN'][0].Plan);
    });
  }

  it.each([null, ...MESSAGE_STATUSES])('lists messages with status %s and reads no others', async (status) => {
    for (const before of [null, `msg_${'20001'.padStart(26, '0')}`]) {
      const { messages } = await process.messages.list('one', { limit: 50, before, status, missedBy: null });
      const rows = await rowsRead(() => process.messages.list('one', { limit: 50, before, status, missedBy: null }));
      // One more shows that there are more, and the first of each status and partition is compared with the others.
      expect(rows - messages.length).toBeLessThanOrEqual(1 + 3 * MESSAGE_STATUSES.length);
    }
  });

  it('that counts its backlog reads what it counts', async () => {
    const backlogs = new PostgresBacklogs(process.reads);
    expect(await backlogs.of('one')).toMatchObject({ queued: 5_000, scheduled: 0 });
    expect(await rowsRead(() => backlogs.of('one'))).toBeLessThanOrEqual(5_000 + 1 + 1_000);
  });

  it('that retries failed ones reads none that did not fail', async () => {
    const [start, end] = [new Date(0), new Date(Date.now() + 3_600_000)];
    expect(await rowsRead(() => process.messages.retryFailed('one', start, end, 10))).toBe(0);
  });

  it('that lists attempts reads those of the message', async () => {
    const id = `msg_${'10001'.padStart(26, '0')}`;
    expect(await rowsRead(() => process.messages.attempts('one', id))).toBeLessThanOrEqual(2);
  });
});

describe('Reads', () => {
  it('of a caller take turns and are refused after a wait; those of others are not', async () => {
    let running = 0;
    let most = 0;
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const prepared = async () => {
      most = Math.max(most, ++running);
      await ended;
      running--;
      return [];
    };
    const reads = new Reads({ prepared } as unknown as Database, { perCaller: 2, maxWaitMs: 20 });
    const read = (caller: string) => reads.query(caller, 'name', 'text', []);
    const all = [read('a'), read('a'), read('a')];
    await sleep(30);
    await expect(read('a')).rejects.toMatchObject({ code: 'unavailable', retryAfter: 1 });
    expect(running).toBe(2);
    all.push(read('b'));
    await until(() => running === 3);
    end();
    await Promise.all(all);
    expect(most).toBe(3);
    await expect(read('a')).resolves.toEqual([]);
  });

  it('of a caller wait after a large result, a millisecond for every 16 KiB', async () => {
    const reads = new Reads({ prepared: () => Promise.resolve([]) } as unknown as Database, {
      perCaller: 1,
      maxWaitMs: 20,
    });
    await reads.query('a', 'name', 'text', [], () => 200 * 16_384);
    const since = performance.now();
    const served: string[] = [];
    const read = async (caller: string) => {
      await reads.query(caller, 'name', 'text', []);
      served.push(caller);
    };
    await Promise.all(['a', 'b'].map(read));
    expect(performance.now() - since).toBeGreaterThan(150);
    expect(served).toEqual(['b', 'a']);
  });
});

describe('What an account does in many steps', () => {
  const accountId = 'acct_1';
  const [since, until] = [new Date(0), new Date(1)];

  /** A second step that is refused. */
  function refusedAfter(row: object) {
    const query = jest.fn().mockResolvedValueOnce([row]).mockRejectedValueOnce(new Error('too many reads'));
    return { reads: { query } as unknown as Reads, announce: jest.fn(), onStarted: jest.fn() };
  }

  it('has reported and announced the steps of a retry before one that is refused', async () => {
    const { reads, announce, onStarted } = refusedAfter({
      count: 3,
      deliveries: 2,
      leasable: 1,
      redelivered: 1,
      last: 'msg_1',
    });
    const [database, relay] = [{} as Database, { enqueue: jest.fn() }];
    const messages = new PostgresMessages(database, reads, relay, { announce }, { start: jest.fn() });
    const retried = messages.retryFailed(accountId, since, until, 1_000, onStarted);
    await expect(retried).rejects.toThrow('too many reads');
    expect(onStarted.mock.calls).toEqual([[2]]);
    expect(announce.mock.calls).toEqual([[[accountId]], [[WEBHOOKS]]]);
  });

  it('has reported and announced the steps of a replay before one that is refused', async () => {
    const { reads, announce, onStarted } = refusedAfter({ missed: ['msg_1', 'msg_2'], last: 'msg_2' });
    const database = { transaction: () => Promise.resolve(2) } as unknown as Database;
    const deliveries = new PostgresEndpointDeliveries(database, reads, { announce } as unknown as Availability);
    const terms = { since, until, max: 1_000, perSecond: 100 };
    const replayed = deliveries.replay(accountId, 'ep_1', terms, new AbortController().signal, onStarted);
    await expect(replayed).rejects.toThrow('too many reads');
    expect(onStarted.mock.calls).toEqual([[2]]);
    expect(announce.mock.calls).toEqual([[[WEBHOOKS]]]);
  });
});

function literalOf(value: unknown): string {
  return Array.isArray(value) ? `{${value.join()}}` : String(value);
}
