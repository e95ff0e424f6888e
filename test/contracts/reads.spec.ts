import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresBacklogs } from '#messages/adapters/postgres/reading/postgres-backlogs.js';
import { PostgresDeliveryLog } from '#webhooks/adapters/postgres/postgres-delivery-log.js';
import { PostgresEndpointDeliveries } from '#webhooks/adapters/postgres/postgres-endpoint-deliveries.js';
import { PostgresMessages } from '#messages/adapters/postgres/postgres-messages.js';
import { WEBHOOKS, type Availability } from '#messages/application/delivering/availability.js';
import { MESSAGE_STATUSES, type MessageStatus } from '#messages/domain/message-status.js';
import { readTypeFilter } from '#messages/domain/type-filter.js';
import type { Database } from '#platform/database/database.js';
import { Reads } from '#platform/database/reads.js';
import { until } from '../support/processes.js';
import { FIRST_PAGE } from '../support/messages.js';
import { PostgresStore, type StoreProcess } from './postgres-store.js';

interface Plan {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Plan[];
}

/** Rows that a plan has read from tables. */
function rowsOf(plan: Plan): number {
  const { 'Rows Removed by Filter': removed = 0, Plans: plans = [] } = plan;
  const own = plan['Relation Name'] === undefined ? 0 : (plan['Actual Rows'] + removed) * plan['Actual Loops'];
  return plans.reduce((sum, child) => sum + rowsOf(child), own);
}

/** Rows of tables, and pages of tables and indexes. */
async function costOf(process: StoreProcess, read: () => Promise<unknown>): Promise<{ rows: number; pages: number }> {
  const query = jest.spyOn(process.reads, 'query');
  await read();
  const [, , text = '', values = []] = query.mock.calls[0] ?? [];
  query.mockRestore();
  // Prepared as `Reads` does: EXPLAIN alone plans for the values.
  return process.reading.transaction(async (client) => {
    await client.query(`PREPARE read AS ${text}`);
    const literals = values.map((value) =>
      typeof value === 'number' || value === null ? String(value) : `'${literalOf(value)}'`,
    );
    const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE read (${literals.join()})`;
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(explain);
    await client.query('DEALLOCATE read');
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    if (plan === undefined) throw new Error('There is no plan.');
    return { rows: rowsOf(plan), pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] };
  });
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

  const rowsRead = async (read: () => Promise<unknown>) => (await costOf(process, read)).rows;

  it.each([null, ...MESSAGE_STATUSES])('lists messages with status %s and reads no others', async (status) => {
    for (const before of [null, `msg_${'20001'.padStart(26, '0')}`]) {
      const page = { ...FIRST_PAGE, limit: 50, before, status };
      const { messages } = await process.messages.list('one', page);
      const rows = await rowsRead(() => process.messages.list('one', page));
      // One more shows that there are more, and the first of each status and partition is compared with the others.
      expect(rows - messages.length).toBeLessThanOrEqual(1 + 3 * MESSAGE_STATUSES.length);
    }
  });

  it('costs the indexes by type nothing without types', async () => {
    const [sizes] = await store.sql<{ indexes: number; bytes: number }>(
      `SELECT count(*)::int AS indexes, max(pg_relation_size(oid))::int AS bytes FROM pg_class
       WHERE relkind = 'i' AND pg_get_indexdef(oid) LIKE '%sluice.messages\\_% substr(id, 5))%'`,
    );
    // The page that every index has.
    expect(sizes).toEqual({ indexes: expect.any(Number) as number, bytes: 8_192 });
    expect(sizes?.indexes).toBeGreaterThanOrEqual(15);
  });

  it('that counts its backlog reads what it counts', async () => {
    const backlogs = new PostgresBacklogs(process.reads);
    expect(await backlogs.of('one')).toMatchObject({ queued: 5_000, scheduled: 0 });
    expect(await rowsRead(() => backlogs.of('one'))).toBeLessThanOrEqual(5_000 + 1 + 1_000);
  });

  it('that retries failed ones reads none that did not fail', async () => {
    const [since, until] = [new Date(0), new Date(Date.now() + 3_600_000)];
    expect(await rowsRead(() => process.messages.retryFailed('one', { type: null, since, until }, 10))).toBe(0);
  });

  it('that lists attempts reads those of the message', async () => {
    const id = `msg_${'10001'.padStart(26, '0')}`;
    expect(await rowsRead(() => process.messages.attempts('one', id))).toBeLessThanOrEqual(2);
  });
});

describe('A read by type, beside 100,000 messages of other types', () => {
  let store: PostgresStore;
  let process: StoreProcess;
  beforeAll(async () => {
    store = await PostgresStore.open();
    process = await store.process();
    await fill(1, 100, `'rare.kind.' || n`);
    await store.sql('ANALYZE sluice.messages');
    await fill(100_001, 100_000, `(ARRAY['orders', 'order-x.paid', 'a.b', 'rarer.kind.1', 'rare', NULL])[n % 6 + 1]`);
    await fill(300_001, 100, `'rare.kind.' || n`);
  });
  afterAll(() => store.close());

  const fill = (from: number, count: number, type: string) =>
    store.sql(
      `INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at, type)
       SELECT 'msg_' || lpad(n::text, 26, '0'), 'one', 'x', (ARRAY['queued', 'delivered'])[n / 6 % 2 + 1], now(), now(), ${type}
       FROM generate_series($1::int, $1::int + $2::int - 1) AS n`,
      [from, count],
    );

  const midst = `msg_${'200000'.padStart(26, '0')}`;
  it.each(
    ['rare.kind.7', 'rare.*', 'rare.kind.*', 'nothing', 'nothing.*', 'a.b.c.*'].flatMap((type) =>
      [null, ...MESSAGE_STATUSES].flatMap((status) => [null, midst].map((before) => [type, status, before] as const)),
    ),
  )('lists %s with status %s before %s and reads no others', async (type, status, before) => {
    const page = { ...FIRST_PAGE, limit: 50, before, status, type: readTypeFilter(type) };
    const { messages } = await process.messages.list('one', page);
    const { rows, pages } = await costOf(process, () => process.messages.list('one', page));
    expect(rows - messages.length).toBeLessThanOrEqual(1 + 3 * MESSAGE_STATUSES.length);
    // A descent of the index of each partition and status, and a page for each row.
    expect(pages).toBeLessThanOrEqual(rows + 4 * 3 * MESSAGE_STATUSES.length);
  });

  it('cancels messages of a type and finds no others', async () => {
    const filter = { type: readTypeFilter('nothing.*'), since: null, until: null };
    const cancel = () => process.messages.cancelQueued('one', filter, 100_000, () => Promise.resolve());
    const { rows, pages } = await costOf(process, cancel);
    expect(rows).toBe(0);
    expect(pages).toBeLessThan(20);
  });
});

describe('A read of what an endpoint got, beside 20,000 deliveries to others', () => {
  let store: PostgresStore;
  let process: StoreProcess;
  beforeAll(async () => {
    store = await PostgresStore.open();
    process = await store.process();
    await store.sql('ANALYZE sluice.messages, sluice.attempts, sluice.endpoint_deliveries');
    await store.sql(`INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at, delivery)
      SELECT 'msg_' || lpad(n::text, 26, '0'), 'one', 'x', 'delivered', now(), now(), 'webhooks'
      FROM generate_series(1, 20000) AS n`);
    // A third each is open, delivered and failed; every hundredth message is for the endpoint.
    await store.sql(`INSERT INTO sluice.endpoint_deliveries (message_id, endpoint_id, account_id, due_at, attempts, last_number)
      SELECT id, CASE n / 3 % 100 WHEN 0 THEN 'ep_1' ELSE 'ep_2' END, 'one', CASE n % 3 WHEN 0 THEN now() END, 20, 1
      FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM sluice.messages) numbered WHERE n % 3 < 2`);
    // Those to the endpoint have had many attempts, and so has another one with the same messages.
    await store.sql(`INSERT INTO sluice.attempts (message_id, number, account_id, started_at, ended_at, outcome, target, of_target)
      SELECT id, number, 'one', now(), now(), CASE WHEN n % 3 = 2 AND number = 1 THEN 'delivered' ELSE 'failed' END,
             CASE WHEN n / 3 % 100 = 0 AND number < 21 THEN 'ep_1' ELSE 'ep_2' END, 20
      FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM sluice.messages) numbered
      JOIN generate_series(1, 40) AS number ON number = 1 OR n / 3 % 100 = 0`);
  });
  afterAll(() => store.close());

  it.each([null, 'pending', 'delivered', 'failed'] as const)('reads what it shows with status %s', async (status) => {
    const log = new PostgresDeliveryLog(process.reads);
    const page = { limit: 20, before: null, status };
    const shown = await log.ofEndpoint('one', 'ep_1', page);
    expect(new Set(shown.map(({ attempts }) => attempts))).toEqual(new Set([20]));
    expect(shown).toHaveLength(21);
    const { rows, pages } = await costOf(process, () => log.ofEndpoint('one', 'ep_1', page));
    // Of each delivery: itself, its message, its row, the attempt that has delivered it and its last one; up to three lists are
    // merged.
    expect(rows).toBeLessThanOrEqual(21 * (3 * 2 + 4));
    expect(pages).toBeLessThanOrEqual(21 * 40);
  });

  it.each([null, 'delivered', 'failed'] as const)('lists its messages with status %s alone', async (status) => {
    const page = { ...FIRST_PAGE, limit: 20, status, endpointId: 'ep_1' };
    expect((await process.messages.list('one', page)).messages).toHaveLength(20);
    expect((await costOf(process, () => process.messages.list('one', page))).rows).toBeLessThanOrEqual(
      21 * (3 * 2 + 4),
    );
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
    expect(performance.now() - since).toBeGreaterThan(100);
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
    const retried = messages.retryFailed(accountId, { type: null, since, until }, 1_000, onStarted);
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
