import type { Database } from '#platform/database/database.js';
import { ReconcilerTurn } from '../../application/reconciler-turn.js';

// Timers are not exact: a run that is a little early is not skipped. A time in the future comes from a wrong clock.
const NOTE_BEGIN = `
  UPDATE sluice.reconciler SET began_at = clock_timestamp()
  WHERE began_at NOT BETWEEN clock_timestamp() - 0.9 * $1 * interval '1 millisecond' AND clock_timestamp()
  RETURNING 1`;

export class PostgresReconcilerTurn extends ReconcilerTurn {
  constructor(private readonly database: Database) {
    super();
  }

  async take(everyMs: number, work: (keep: () => Promise<unknown>) => Promise<void>): Promise<void> {
    // A transaction, because one of a lost process ends after `idle_in_transaction_session_timeout`.
    await this.database.transaction(async (client) => {
      const { rows } = await client.query<{ locked: boolean }>(
        `SELECT pg_try_advisory_xact_lock(hashtext('sluice.reconciler')) AS locked`,
      );
      if (rows[0]?.locked !== true) return;
      if (everyMs > 0 && (await this.database.query(NOTE_BEGIN, [everyMs])).length === 0) return;
      await work(() => client.query('SELECT'));
    });
  }
}
