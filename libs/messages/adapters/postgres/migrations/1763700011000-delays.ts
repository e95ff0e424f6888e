import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Delays1763700011000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE sluice.messages ADD COLUMN deliver_at timestamptz;
      -- Nobody else relays the entry, so that a sweeper takes it as soon as it is due.
      ALTER TABLE sluice.outbox ADD COLUMN for_sweeper boolean NOT NULL DEFAULT false;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE sluice.outbox DROP COLUMN for_sweeper;
      ALTER TABLE sluice.messages DROP COLUMN deliver_at;
    `);
  }
}
