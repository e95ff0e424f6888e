import { randomUUID } from 'node:crypto';
import { cancelQueued } from '#messages/adapters/postgres/changes/cancel-queued.sql.js';
import { retryFailed } from '#messages/adapters/postgres/changes/change-messages.sql.js';
import { ACKNOWLEDGE, END_EXPIRED, LEASE } from '#messages/adapters/postgres/leases/lease.sql.js';
import { indexOf } from '#messages/adapters/postgres/reading/message-index.sql.js';
import { PostgresStore, type StoreProcess } from './postgres-store.js';

const STORED = 20_000;
const CHANGED = 10;
/** Fewer than the table has. */
const MAX_BLOCKS = 400;
const ACCOUNT = 'acct_1';
const CLAIM = randomUUID();
const EVERY = ['msg_9', CHANGED, 'msg_0'];

const idOf = (n: number) => `msg_01m7${String(n).padStart(22, '0')}`;
const changed = <T>(of: (n: number) => T) => Array.from({ length: CHANGED }, (_, n) => of(n + 1));

/** A statement that changes a few of many messages in a status, and the connections that run it. */
interface Change {
  readonly of: 'queued' | 'processing' | 'failed';
  readonly by: 'database' | 'reading';
  readonly text: string;
  readonly values: readonly unknown[];
  /** Whether their claims have expired. */
  readonly isExpired?: boolean;
}

const { index: all } = indexOf(null);
const { index: typed, values: type } = indexOf({ type: 'order.paid' });

const CHANGES: Readonly<Record<string, Change>> = {
  lease: { of: 'queued', by: 'reading', text: LEASE, values: [ACCOUNT, CHANGED, 60_000, 5] },
  'lease again': {
    ...{ of: 'processing', by: 'reading', isExpired: true },
    ...{ text: LEASE, values: [ACCOUNT, CHANGED, 60_000, 5] },
  },
  acknowledge: {
    ...{ of: 'processing', by: 'database', text: ACKNOWLEDGE.for(changed(idOf)).text },
    values: [changed(idOf), changed(() => ACCOUNT), changed(() => CLAIM), changed(() => 1)],
  },
  'end expired': { of: 'processing', by: 'database', isExpired: true, text: END_EXPIRED, values: [1, CHANGED] },
  cancel: { of: 'queued', by: 'reading', text: cancelQueued(all), values: [ACCOUNT, ...EVERY] },
  'cancel a type': {
    of: 'queued',
    by: 'reading',
    text: cancelQueued(typed),
    values: [ACCOUNT, ...EVERY, ...type],
  },
  retry: { of: 'failed', by: 'reading', text: retryFailed(all), values: [ACCOUNT, ...EVERY] },
  'retry a type': {
    of: 'failed',
    by: 'reading',
    text: retryFailed(typed),
    values: [ACCOUNT, ...EVERY, ...type],
  },
};

type Commands = readonly [whenEmpty: string | null, whenFilled: string | null];

/** What the planner knows of the table: what happens to it while it is empty, and once it is filled. */
const STATISTICS: Readonly<Record<string, Commands>> = {
  'never analyzed': [null, null],
  'analyzed while its pages were empty': ['VACUUM (ANALYZE, TRUNCATE false) sluice.messages', null],
  'analyzed while it had no pages': ['VACUUM ANALYZE sluice.messages', null],
  'analyzed since': [null, 'ANALYZE sluice.messages'],
};

describe('However many messages are stored', () => {
  let store: PostgresStore;
  let process: StoreProcess;
  beforeAll(async () => {
    store = await PostgresStore.open();
    process = await store.process();
  });
  afterAll(() => store.close());

  const fill = ({ of, isExpired = false }: Change) =>
    store.sql(
      `INSERT INTO sluice.messages (id, account_id, text, type, status, created_at, updated_at, delivery, available_at,
                                    attempts, claim, claim_expires_at)
       SELECT 'msg_01m7' || lpad(n::text, 22, '0'), $1, 'hello', 'order.paid', $2, now(), now(), 'pull',
              CASE WHEN $2 <> 'failed' THEN ends_at END,
              CASE WHEN $2 = 'processing' THEN 1 ELSE 0 END, CASE WHEN $2 = 'processing' THEN $3::uuid END,
              CASE WHEN $2 = 'processing' THEN ends_at END
       FROM generate_series(1, ${STORED}) AS n CROSS JOIN LATERAL (
         SELECT now() + CASE WHEN $2 = 'processing' AND NOT $4 THEN interval '1 hour' ELSE n * interval '-1 ms' END AS ends_at
       ) t`,
      [ACCOUNT, of, CLAIM, isExpired],
    );

  /** @returns how many blocks a change has read of a table that is filled again */
  const blocksRead = async (change: Change, [whenEmpty, whenFilled]: Commands) => {
    await store.sql('TRUNCATE sluice.messages CASCADE');
    if (whenEmpty !== null) {
      await fill(change);
      await store.sql('DELETE FROM sluice.messages');
      await store.sql(whenEmpty);
    }
    await fill(change);
    if (whenFilled !== null) await store.sql(whenFilled);
    const [row] = await process[change.by].query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${change.text}`,
      [...change.values],
    );
    const updated = await store.sql(
      `SELECT FROM sluice.messages WHERE xmin <> (SELECT xmin FROM sluice.messages WHERE id = $1)`,
      [idOf(STORED / 2)],
    );
    expect(updated).toHaveLength(CHANGED);
    return row?.['QUERY PLAN'][0].Plan['Shared Hit Blocks'] ?? Infinity;
  };

  it.each(
    Object.entries(STATISTICS).flatMap(([known, commands]) =>
      Object.entries(CHANGES).map(([what, change]) => [what, known, change, commands] as const),
    ),
  )('%s reads no more than it changes, in a table %s', async (_what, _known, change, commands) => {
    let blocks = Infinity;
    // What other tests do can make the server forget what it knows of its catalogs: it reads these again, then.
    for (let tries = 0; tries < 3 && blocks >= MAX_BLOCKS; tries++) blocks = await blocksRead(change, commands);
    expect(blocks).toBeLessThan(MAX_BLOCKS);
  });
});
