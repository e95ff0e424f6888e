import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { Database } from '#platform/database/database.js';
import { createLogger } from '#platform/observability/logging.js';
import { Metrics } from '#platform/observability/metrics.js';
import { SnapshotWatch } from '#platform/observability/snapshot-watch.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/processes.js';

const ROLE = `visitor_${randomBytes(4).toString('hex')}`;

describe.each(['the owner', 'a role that may not see other sessions'])('SnapshotWatch of %s', (who) => {
  let own: TestDatabase;
  let holder: pg.Client;
  let database: Database;
  let watch: SnapshotWatch;
  const lines: { level: number; holder: string }[] = [];

  beforeAll(async () => {
    own = await createTestDatabase();
    holder = new pg.Client({ connectionString: own.url, application_name: 'pg_dump' });
    await holder.connect();
    const url = new URL(own.url);
    if (who !== 'the owner') {
      await holder.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD 'secret'`);
      Object.assign(url, { username: ROLE, password: 'secret' });
    }
    const onError = () => undefined;
    database = await Database.connect({ url: url.href, poolSize: 1, applicationName: 'watch', onError });
    const write = (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]);
    watch = new SnapshotWatch(database, new Metrics(), createLogger('info', 'test', { write }), 1);
  });
  afterAll(async () => {
    await database.close();
    if (who !== 'the owner') await holder.query(`DROP ROLE ${ROLE}`);
    await holder.end();
    await own.drop();
  });

  const seconds = async () => {
    await watch.run();
    return watch.seconds;
  };

  it('measures how long a snapshot is held, names the holder in one line, and forgets it when it ends', async () => {
    // A session that starts, or an autovacuum, holds one for a moment.
    const isNoneHeld = async () => (await seconds()) === 0;
    await until(isNoneHeld);
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await holder.query('SELECT count(*) FROM sluice.messages');
    const pid = (holder as unknown as { processID: number }).processID;
    const named = () => lines.find((line) => line.holder === `process ${pid} (pg_dump)`);
    await until(async () => Number(await seconds()) >= 1 && named() !== undefined);
    expect(named()).toMatchObject({ level: 40 });
    // Not one for each check. Another one only if an autovacuum was the oldest for a moment.
    await until(async () => {
      const before = lines.length;
      await seconds();
      await seconds();
      return lines.length === before;
    });
    await holder.query('COMMIT');
    await until(isNoneHeld);
  });

  it('has no value while the database is away', async () => {
    await database.close();
    expect(await seconds()).toBeNull();
  });
});
