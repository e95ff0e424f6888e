import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Attempts1763700012000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- Attempts that have ended: one that runs is told by its message. Rows are written once, with the statement that
      -- ends the attempt.
      CREATE TABLE sluice.attempts (
        message_id text COLLATE "C" NOT NULL,
        number integer NOT NULL,
        account_id text COLLATE "C" NOT NULL,
        started_at timestamptz NOT NULL,
        ended_at timestamptz,
        outcome text NOT NULL CHECK (outcome IN ('delivered', 'retried', 'failed', 'lost')),
        error text,
        PRIMARY KEY (message_id, number),
        CHECK ((outcome = 'lost') = (ended_at IS NULL))
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE sluice.attempts');
  }
}
