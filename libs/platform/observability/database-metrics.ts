import type { Metrics } from './metrics.js';

const EVERY_MS = 30_000;

// Connections of superusers only are kept in reserve.
const READ_DATABASE = `
  SELECT (SELECT sum(numbackends)::int FROM pg_stat_database) AS connections,
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS max`;

/** Gauges of the connections of PostgreSQL, with the same values in all processes of an installation. */
export function addDatabaseGauges(metrics: Metrics): void {
  metrics.storeGauges(
    EVERY_MS,
    [
      { name: 'sluice_database_connections', help: 'Open connections of the PostgreSQL server, of all programs' },
      { name: 'sluice_database_connections_max', help: 'Connections that the server allows' },
    ],
    async (database) => {
      const [row] = await database.query<{ connections: number; max: number }>(READ_DATABASE);
      return {
        sluice_database_connections: row?.connections ?? null,
        sluice_database_connections_max: row?.max ?? null,
      };
    },
  );
}
