import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Traces1763700003000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE sluice.messages ADD COLUMN traceparent text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE sluice.messages DROP COLUMN traceparent');
  }
}
