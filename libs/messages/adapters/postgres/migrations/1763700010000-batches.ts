import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Batches1763700010000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In the order in which they were sent; null for a single message.
    await runner.query('ALTER TABLE sluice.idempotency_keys ADD COLUMN message_ids text[]');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE sluice.idempotency_keys DROP COLUMN message_ids');
  }
}
