import { lowestId, UuidV7Ids } from '#kernel/ids.js';
import { Deployment } from '../support/deployment.js';
import { until } from '../support/processes.js';

const DAY_MS = 86_400_000;
const OLD = 300;
const today = new Date().setUTCHours(0, 0, 0, 0);
const daysAgo = (days: number) => new Date(today - days * DAY_MS);
const nameOf = (from: Date, to: Date) =>
  [from, to].map((date) => date.toISOString().slice(0, 10).replaceAll('-', '')).join('_');

/** As if the new installation had run for days: of three partitions two are over. Resolves to the names of those. */
async function age({ database }: Deployment): Promise<string[]> {
  const [row] = await database.sql<{ first: string }>(
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
  await database.sql(`BEGIN; ${statements.join('; ')}; COMMIT`);
  return [nameOf(new Date(0), daysAgo(6)), nameOf(daysAgo(6), daysAgo(5))];
}

/** Failed messages of the callers' account that were created then, and take long to handle; resolves to their ids. */
async function failedAt({ database }: Deployment, createdAt: Date): Promise<string[]> {
  const ids = new UuidV7Ids();
  const made = Array.from({ length: OLD }, () => ids.next('msg', createdAt));
  await database.sql(
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

describe('Removing old messages', () => {
  it('removes all of a partition or nothing when it is killed, and never what is sent off again', async () => {
    const deployment = await Deployment.start({ settings: { RETENTION_DAYS: '1', WORKER_LOCK_MS: '5000' } });
    const { api, database, worker } = deployment;
    const [older = '', newer = ''] = await age(deployment);
    await failedAt(deployment, daysAgo(8));
    const [again = ''] = await failedAt(deployment, daysAgo(6));
    const stored = (name: string) =>
      database.sql<{ messages: number; attempts: number }>(
        `SELECT (SELECT count(*) FROM sluice.messages_${name})::int AS messages,
                (SELECT count(*) FROM sluice.attempts_${name})::int AS attempts`,
      );
    await deployment.load({ perSecond: 50 });

    // A worker looks for what is old when it starts. It and the database die when the first partition is empty, and
    // that is not yet committed.
    await database.sql(`
      CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$;
      CREATE TRIGGER linger BEFORE DELETE ON sluice.storage EXECUTE FUNCTION linger()`);
    worker.kill();
    const started = worker.start().catch(() => undefined);
    const lingering = `SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'`;
    await until(
      async () => (await database.sql(lingering)).length > 0,
      60_000,
      () => worker.output,
    );
    await database.kill();
    worker.kill();
    await started;
    await database.restart();
    for (const name of [older, newer]) expect(await stored(name)).toEqual([{ messages: OLD, attempts: OLD }]);

    await database.sql('DROP FUNCTION linger CASCADE');
    await deployment.accepting(performance.now());
    const retried = await fetch(`${api.url}/messages/${again}/retry`, {
      method: 'POST',
      headers: { authorization: `Bearer ${deployment.apiKey}` },
    });
    expect(retried.status).toBe(202);
    await worker.start();
    await until(
      async () => (await database.sql(`SELECT WHERE to_regclass('sluice.messages_${older}') IS NULL`)).length > 0,
      60_000,
      () => worker.output,
    );
    const statusOf = async () => {
      const answer = await fetch(`${api.url}/messages/${again}`, {
        headers: { authorization: `Bearer ${deployment.apiKey}` },
      });
      return ((await answer.json()) as { status?: string }).status;
    };
    await until(
      async () => (await statusOf()) === 'delivered',
      60_000,
      () => worker.output,
    );
    expect(await stored(newer)).toEqual([{ messages: OLD, attempts: OLD + 1 }]);
    await deployment.going();
    expect(await deployment.violations()).toEqual([]);
    await deployment.stop();
  }, 300_000);
});
