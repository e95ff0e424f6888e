import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Storage1763700014000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- What the messages of an account take up, by the day in UTC on which they were created: the row goes with the
      -- day's messages. A few rows are rewritten every second, and find room beside their old versions.
      CREATE TABLE sluice.storage (
        account_id text COLLATE "C" NOT NULL,
        day date NOT NULL,
        bytes bigint NOT NULL,
        messages bigint NOT NULL,
        PRIMARY KEY (account_id, day)
      ) WITH (fillfactor = 70);
      INSERT INTO sluice.storage (account_id, day, bytes, messages)
      SELECT account_id, (created_at AT TIME ZONE 'UTC')::date, sum(octet_length(body) + 256), count(*)
      FROM sluice.messages GROUP BY 1, 2;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE sluice.storage');
  }
}
