import { EmbeddedPostgres } from '../../dist/apps/dev/embedded-postgres/embedded-postgres.js';

/* A process that holds the PostgreSQL of DATA_DIR until SIGTERM, or until it is killed. */
try {
  const postgres = await EmbeddedPostgres.start({
    ...{ dataDir: process.env.DATA_DIR, database: 'sluice', settings: { fsync: 'off' } },
  });
  console.log(`serving ${postgres.url} ${postgres.pid}`);
  process.once('SIGTERM', () => {
    void postgres.stop();
  });
  await postgres.exited;
} catch (error) {
  console.log(error.name, error.message);
  process.exitCode = 1;
}
