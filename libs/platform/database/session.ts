import type { ClientBase } from 'pg';

/** Why the session of a server that was reached cannot be used. */
export class UnusableSession extends Error {
  /**
   * @param reason completes "The database …"
   * @param code the SQLSTATE, by default of a statement that would write
   */
  constructor(
    readonly reason: string,
    readonly mayChange: boolean,
    readonly code = '25006',
  ) {
    super(`The database ${reason}.`);
  }
}

// Not every version has the first two settings. A role that may not set the last one gets an error instead.
const CHECK = `
  SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS readonly,
    CASE WHEN current_setting('transaction_timeout', true) <> '0'
      THEN set_config('transaction_timeout', '0', false) END,
    CASE WHEN current_setting('restrict_nonsystem_relation_kind', true) <> ''
      THEN set_config('restrict_nonsystem_relation_kind', '', false) END,
    CASE WHEN current_setting('session_replication_role') <> 'origin'
      THEN set_config('session_replication_role', 'origin', false) END`;

/**
 * Checks that a session can write, and that triggers run in it.
 * @throws UnusableSession
 */
export async function requireUsableSession(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean; readonly: boolean }>(CHECK).catch(explain);
  if (rows[0]?.standby === true) {
    throw new UnusableSession('is in recovery, as a standby is: it accepts no writes', true);
  }
  if (rows[0]?.readonly === true) {
    throw new UnusableSession(
      'is read-only: default_transaction_read_only is on for the server, the database or the role',
      false,
    );
  }
}

function explain(error: Error & { readonly code?: string }): never {
  if (error.code !== '42501') throw error;
  throw new UnusableSession('does not run triggers: set session_replication_role to origin for its role', false);
}
