import { lowestId, UuidV7Ids } from '#kernel/ids.js';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';

const DAY_MS = 86_400_000;
const OLD = 300;
const today = new Date().setUTCHours(0, 0, 0, 0);
const daysAgo = (days: number) => new Date(today - days * DAY_MS);
const nameOf = (from: Date, to: Date) =>
  [from, to].map((date) => date.toISOString().slice(0, 10).replaceAll('-', '')).join('_');

/** Divides the only partition into three, two of which have ended. Resolves to their names. */
async function age(fleet: Fleet): Promise<string[]> {
  const [row] = await fleet.sql<{ first: string }>(
    `SELECT substring(relname, 10) AS first FROM pg_class WHERE relname ~ '^messages_19700101_\\d{8}$'`,
  );
  const first = row?.first ?? '';
  const end = new Date(first.replace(/^\d+_(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3'));
  const bounds = [new Date(0), daysAgo(6), daysAgo(5), end];
  const statements = ['messages', 'attempts'].flatMap((table) => [
    `DROP TABLE sluice.${table}_${first}`,
    ...bounds.slice(1).map((to, index) => {
      const from = bounds[index] ?? to;
      return `CREATE TABLE sluice.${table}_${nameOf(from, to)} PARTITION OF sluice.${table}
                FOR VALUES FROM ('${lowestId('msg', from)}') TO ('${lowestId('msg', to)}')`;
    }),
  ]);
  await fleet.sql(`BEGIN; ${statements.join('; ')}; COMMIT`);
  return [nameOf(new Date(0), daysAgo(6)), nameOf(daysAgo(6), daysAgo(5))];
}

/** Stores failed messages whose delivery takes long. Resolves to their ids. */
async function failedAt(fleet: Fleet, createdAt: Date): Promise<string[]> {
  const ids = new UuidV7Ids();
  const made = Array.from({ length: OLD }, () => ids.next('msg', createdAt));
  await fleet.sql(
    `WITH added AS (
       INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at, attempts, failure_reason)
       SELECT id, (SELECT id FROM sluice.accounts LIMIT 1), 'wait 2000', 'failed', $2, $2, 1, 'refused' FROM unnest($1::text[]) id
       RETURNING *
     )
     INSERT INTO sluice.attempts (message_id, number, account_id, started_at, ended_at, outcome, error)
     SELECT id, 1, account_id, created_at, created_at, 'failed', 'refused' FROM added`,
    [made, createdAt],
  );
  return made;
}

let fleet: Fleet;
afterEach(() => fleet.stop());

it('Removing old messages removes a whole partition or nothing when it is killed, and never a message that is retried', async () => {
  fleet = await Fleet.deploy({ RETENTION_DAYS: '1', WORKER_LOCK_MS: '5000' });
  const { database } = fleet;
  const worker = await fleet.worker();
  const [older = '', newer = ''] = await age(fleet);
  await failedAt(fleet, daysAgo(8));
  const [retried = ''] = await failedAt(fleet, daysAgo(6));
  const stored = (name: string) =>
    fleet.sql<{ messages: number; attempts: number }>(
      `SELECT (SELECT count(*) FROM sluice.messages_${name})::int AS messages,
              (SELECT count(*) FROM sluice.attempts_${name})::int AS attempts`,
    );
  const holds = (condition: () => Promise<boolean>) => until(condition, 60_000, () => worker.output);
  const finds = (query: string) => holds(async () => (await fleet.sql(query)).length > 0);
  await fleet.load({ perSecond: 50 });

  // A worker removes old messages when it starts. It and the database are killed after the first partition was emptied
  // and before the commit.
  await fleet.sql(`
    CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$;
    CREATE TRIGGER linger BEFORE DELETE ON sluice.storage EXECUTE FUNCTION linger()`);
  await worker.kill();
  const started = worker.restart().catch(() => undefined);
  await finds(`SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'`);
  await database.kill();
  await worker.kill();
  await started;
  await database.restart();
  for (const name of [older, newer]) expect(await stored(name)).toEqual([{ messages: OLD, attempts: OLD }]);

  await fleet.sql('DROP FUNCTION linger CASCADE');
  await fleet.accepting();
  expect((await fleet.client.ask(fleet.account, `POST /messages/${retried}/retry`)).status).toBe(202);
  await worker.restart();
  await finds(`SELECT WHERE to_regclass('sluice.messages_${older}') IS NULL`);
  await holds(fleet.has(retried, 'delivered'));
  expect(await stored(newer)).toEqual([{ messages: OLD, attempts: OLD + 1 }]);
  await fleet.going();
  expect(await fleet.violations()).toEqual([]);
}, 300_000);
