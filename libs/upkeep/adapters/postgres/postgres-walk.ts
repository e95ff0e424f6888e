import type { Database } from '#platform/database/database.js';
import { IN_POSTGRESQL } from '#delivery/index.js';
import { Walk } from '../../application/walk.js';

const CONTENTS = 'queue_contents';

export class PostgresWalk extends Walk {
  constructor(private readonly database: Database) {
    super();
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
