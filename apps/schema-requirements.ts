import type pg from 'pg';
import { UsageError } from '#platform/process/usage-error.js';

/** Partitions need no rights of their own: statements go through their table, or through functions of the owner. */
const LACKING = `
  WITH schemas AS (SELECT oid, nspname FROM pg_namespace WHERE nspname IN ('sluice', 'bullmq'))
  SELECT lacking, nullif(current_user, session_user) AS role FROM (
  SELECT 'USAGE on schema ' || nspname AS lacking FROM schemas WHERE NOT has_schema_privilege(oid, 'USAGE')
  UNION ALL
  SELECT format('%s on %s.%s', wanted, nspname, relname) FROM pg_class c JOIN schemas s ON s.oid = relnamespace,
    unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS wanted
  WHERE relkind IN ('r', 'p') AND relname !~ '^(messages|attempts)_\\d' AND NOT has_table_privilege(c.oid, wanted)
    AND (wanted = 'SELECT' OR relname NOT IN ('migrations', 'migration'))
  UNION ALL
  SELECT format('USAGE on %s.%s', nspname, relname) FROM pg_class c JOIN schemas s ON s.oid = relnamespace
  WHERE CASE relkind WHEN 'S' THEN NOT has_sequence_privilege(c.oid, 'USAGE') ELSE false END
  UNION ALL
  SELECT format('EXECUTE on %s.%s', nspname, proname) FROM pg_proc p JOIN schemas s ON s.oid = pronamespace
  WHERE NOT has_function_privilege(p.oid, 'EXECUTE')
  UNION ALL
  SELECT format('all rows of %s.%s, which has row-level security', nspname, relname)
  FROM pg_class c JOIN schemas s ON s.oid = relnamespace WHERE relkind IN ('r', 'p') AND row_security_active(c.oid)
  UNION ALL
  SELECT 'TEMPORARY on the database' WHERE NOT has_database_privilege(current_database(), 'TEMPORARY')
  ) rights`;

/** What statements rely on for their results. Partitions come and go. */
const PARTS = `
  WITH schemas AS (SELECT oid, nspname FROM pg_namespace WHERE nspname IN ('sluice', 'bullmq')),
  tables AS (
    SELECT c.oid, nspname || '.' || relname AS name FROM pg_class c JOIN schemas s ON s.oid = relnamespace
    WHERE relkind IN ('r', 'p') AND NOT relispartition AND relname !~ '^(messages|attempts)_\\d'
  )
  SELECT 'table ' || name AS part FROM tables
  UNION ALL
  SELECT format('column %s.%s', name, attname) FROM pg_attribute JOIN tables t ON t.oid = attrelid
  WHERE attnum > 0 AND NOT attisdropped
  UNION ALL
  SELECT format('unique index %s on %s', relname, name) FROM pg_index JOIN tables t ON t.oid = indrelid
    JOIN pg_class c ON c.oid = indexrelid
  WHERE indisunique AND indisvalid
  UNION ALL
  SELECT format('constraint %s on %s', conname, name) FROM pg_constraint JOIN tables t ON t.oid = conrelid
  WHERE contype IN ('c', 'f')
  UNION ALL
  SELECT format('trigger %s on %s', tgname, name) FROM pg_trigger JOIN tables t ON t.oid = tgrelid
  WHERE NOT tgisinternal AND tgenabled IN ('O', 'A')
  UNION ALL
  SELECT format('function %s.%s', nspname, proname) FROM pg_proc JOIN schemas s ON s.oid = pronamespace`;
/** After the last migration. */
export const RECORD_PARTS = `INSERT INTO sluice.installation SELECT 'parts', json_agg(part) FROM (${PARTS}) parts`;
export const FORGET_PARTS = `DELETE FROM sluice.installation WHERE name = 'parts'`;
const MISSING_PARTS = `
  SELECT part FROM (
    SELECT part FROM sluice.installation, json_array_elements_text(value::json) AS part WHERE name = 'parts'
    EXCEPT (${PARTS})
  ) missing ORDER BY part !~ '^table', part`;

/** @throws UsageError that names a few of the rights which the role lacks */
export async function requireRights(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ lacking: string; role: string | null }>(LACKING);
  if (rows.length === 0) return;
  const role = rows[0]?.role ?? null;
  const who =
    role === null ? 'The user of DATABASE_URL' : `The role ${role}, which is set for the user of DATABASE_URL,`;
  throw new UsageError(
    `${who} lacks rights: ${listed(rows.map(({ lacking }) => lacking))}. Grant them as its owner: see "Rights" in docs/deploy.md.`,
  );
}

const listed = (names: readonly string[]): string =>
  names.length > 5 ? `${names.slice(0, 5).join(', ')}, and others` : names.join(', ');

/**
 * After a restore that was interrupted, all migrations are recorded, while nothing keeps the rows unique.
 * @throws UsageError that names a few of the parts which the last migration has left and which are missing
 */
export async function requireParts(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ part: string }>(MISSING_PARTS);
  if (rows.length === 0) return;
  throw new UsageError(
    `The database at DATABASE_URL is incomplete. It lacks: ${listed(rows.map(({ part }) => part))}. See "Back up and restore" in docs/deploy.md.`,
  );
}
