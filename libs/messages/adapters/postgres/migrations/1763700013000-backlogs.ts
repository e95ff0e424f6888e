import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Backlogs1763700013000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX messages_queued ON sluice.messages (account_id, coalesce(deliver_at, created_at))
        WHERE status = 'queued';
      CREATE INDEX attempts_delivered ON sluice.attempts (account_id, ended_at) WHERE outcome = 'delivered';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX sluice.attempts_delivered; DROP INDEX sluice.messages_queued;');
  }
}
