import type { Database } from '#platform/database/database.js';
import { IN_POSTGRESQL } from '#delivery/index.js';
import { Reconciliation } from '../../application/reconciliation.js';

const CONTENTS = 'queue_contents';

// Timers are not exact: a run that is a little early is not skipped. A time in the future comes from a wrong clock.
const NOTE_BEGIN = `
  UPDATE sluice.reconciler SET began_at = clock_timestamp()
  WHERE began_at NOT BETWEEN clock_timestamp() - 0.9 * $1 * interval '1 millisecond' AND clock_timestamp()
  RETURNING position <> '' OR strays + strays_before > 0 OR EXISTS (
    SELECT FROM sluice.messages WHERE status IN ('queued', 'processing') AND delivery = 'handler'
  ) OR EXISTS (
    SELECT FROM sluice.messages WHERE status IN ('queued', 'processing') AND delivery = 'webhooks'
  ) OR EXISTS (
    SELECT FROM sluice.messages WHERE available_at IS NOT NULL
  ) AS has_work`;

/** The turn needs no statement before it has been kept for so many milliseconds. */
const KEPT_MS = 2_000;

const ADVANCE = `
  UPDATE sluice.reconciler SET position = $1, strays = CASE $1 WHEN '' THEN 0 ELSE strays + $2 END,
    strays_before = CASE $1 WHEN '' THEN strays + $2 ELSE strays_before END`;

export class PostgresReconciliation extends Reconciliation {
  constructor(private readonly database: Database) {
    super();
  }

  async take(everyMs: number, work: (keep: () => Promise<unknown>) => Promise<void>, isQuiet = false): Promise<void> {
    if (everyMs > 0) {
      const [begun] = await this.database.query<{ has_work: boolean }>(NOTE_BEGIN, [everyMs]);
      if (begun === undefined || (isQuiet && !begun.has_work)) return;
    }
    // A transaction, because one of a lost process ends after `idle_in_transaction_session_timeout`.
    await this.database.transaction(async (client) => {
      const { rows } = await client.query<{ locked: boolean }>(
        `SELECT pg_try_advisory_xact_lock(hashtext('sluice.reconciler')) AS locked`,
      );
      if (rows[0]?.locked !== true) return;
      let keptAt = performance.now();
      await work(async () => {
        if (performance.now() - keptAt < KEPT_MS) return;
        await client.query('SELECT');
        keptAt = performance.now();
      });
    });
  }

  async position(): Promise<string> {
    const [row] = await this.database.query<{ position: string }>('SELECT position FROM sluice.reconciler');
    return row?.position ?? '';
  }

  async advance(position: string, strays: number): Promise<void> {
    await this.database.query(ADVANCE, [position, strays]);
  }

  async count(strays: number): Promise<void> {
    await this.database.query('UPDATE sluice.reconciler SET strays = strays + $1', [strays]);
  }

  // A space sorts before all ids, and differs from '', which is the position after the end of a walk.
  async restart(): Promise<void> {
    await this.database.query(`UPDATE sluice.reconciler SET position = ' ', strays = 0`);
  }

  async hasPassed(): Promise<boolean> {
    const [row] = await this.database.query<{ passed: boolean }>(
      `SELECT position = '' AND strays_before = 0 AS passed FROM sluice.reconciler`,
    );
    return row?.passed === true;
  }

  async contents(): Promise<string> {
    const [row] = await this.database.query<{ value: string }>(
      'SELECT value FROM sluice.installation WHERE name = $1',
      [CONTENTS],
    );
    // Before any walk has ended: the queue of every installation was in PostgreSQL at first.
    return row?.value ?? IN_POSTGRESQL;
  }

  async setContents(identity: string): Promise<void> {
    await this.database.query(
      `INSERT INTO sluice.installation (name, value) VALUES ($1, $2)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      [CONTENTS, identity],
    );
  }
}
