import type { MigrationInterface, QueryRunner } from 'typeorm';
import { lowestId } from '#kernel/ids.js';

const DAY_MS = 86_400_000;

// Statements of others wait behind a lock that is waited for: so never for long, but again and again.
const LOCK = `
  DO $$ BEGIN
    SET LOCAL lock_timeout = '200ms';
    FOR attempt IN 1..600 LOOP
      BEGIN
        LOCK TABLE sluice.messages, sluice.attempts IN ACCESS EXCLUSIVE MODE;
        RETURN;
      EXCEPTION WHEN lock_not_available THEN
        IF attempt = 600 THEN RAISE; END IF;
      END;
      PERFORM pg_sleep(0.5);
    END LOOP;
  END $$;`;

const INDEXES = `
  ALTER TABLE sluice.messages ADD PRIMARY KEY (id);
  CREATE INDEX messages_by_account ON sluice.messages (account_id, id);
  CREATE INDEX messages_failed ON sluice.messages (account_id, id) WHERE status = 'failed';
  CREATE INDEX messages_open ON sluice.messages (id) WHERE status IN ('queued', 'processing');
  CREATE INDEX messages_queued ON sluice.messages (account_id, coalesce(deliver_at, created_at))
    WHERE status = 'queued';
  ALTER TABLE sluice.attempts ADD PRIMARY KEY (message_id, number);
  CREATE INDEX attempts_delivered ON sluice.attempts (account_id, ended_at) WHERE outcome = 'delivered';`;

export class Partitions1763700015000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // What is stored becomes one partition, which takes what comes for a week as well.
    const today = new Date().setUTCHours(0, 0, 0, 0);
    const end = new Date(today + 8 * DAY_MS);
    const first = `19700101_${end.toISOString().slice(0, 10).replaceAll('-', '')}`;
    const since = `'${lowestId('msg', new Date(0))}'`;
    const until = `'${lowestId('msg', end)}'`;
    await runner.query(`
      ${LOCK}
      ALTER TABLE sluice.messages RENAME TO messages_${first};
      ALTER INDEX sluice.messages_pkey RENAME TO messages_${first}_pkey;
      ALTER INDEX sluice.messages_by_account RENAME TO messages_${first}_by_account;
      ALTER INDEX sluice.messages_failed RENAME TO messages_${first}_failed;
      ALTER INDEX sluice.messages_open RENAME TO messages_${first}_open;
      ALTER INDEX sluice.messages_queued RENAME TO messages_${first}_queued;
      ALTER TABLE sluice.attempts RENAME TO attempts_${first};
      ALTER INDEX sluice.attempts_pkey RENAME TO attempts_${first}_pkey;
      ALTER INDEX sluice.attempts_delivered RENAME TO attempts_${first}_delivered;

      CREATE TABLE sluice.messages (LIKE sluice.messages_${first} INCLUDING ALL EXCLUDING INDEXES)
        PARTITION BY RANGE (id);
      CREATE TABLE sluice.attempts (LIKE sluice.attempts_${first} INCLUDING ALL EXCLUDING INDEXES)
        PARTITION BY RANGE (message_id);
      ${INDEXES}
      -- No id is without a partition, whatever clock it comes from. A default partition would do so as well, but then
      -- lists could not be read in the order of the partitions.
      CREATE TABLE sluice.messages_before PARTITION OF sluice.messages FOR VALUES FROM (MINVALUE) TO (${since});
      CREATE TABLE sluice.messages_after PARTITION OF sluice.messages FOR VALUES FROM (${until}) TO (MAXVALUE);
      CREATE TABLE sluice.attempts_before PARTITION OF sluice.attempts FOR VALUES FROM (MINVALUE) TO (${since});
      CREATE TABLE sluice.attempts_after PARTITION OF sluice.attempts FOR VALUES FROM (${until}) TO (MAXVALUE);

      WITH moved AS (DELETE FROM sluice.messages_${first} WHERE id < ${since} OR id >= ${until} RETURNING *)
      INSERT INTO sluice.messages SELECT * FROM moved;
      WITH moved AS (
        DELETE FROM sluice.attempts_${first} WHERE message_id < ${since} OR message_id >= ${until} RETURNING *
      )
      INSERT INTO sluice.attempts SELECT * FROM moved;
      ALTER TABLE sluice.messages ATTACH PARTITION sluice.messages_${first} FOR VALUES FROM (${since}) TO (${until});
      ALTER TABLE sluice.attempts ATTACH PARTITION sluice.attempts_${first} FOR VALUES FROM (${since}) TO (${until});
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ${LOCK}
      CREATE TABLE sluice.all_messages (LIKE sluice.messages INCLUDING ALL EXCLUDING INDEXES);
      CREATE TABLE sluice.all_attempts (LIKE sluice.attempts INCLUDING ALL EXCLUDING INDEXES);
      INSERT INTO sluice.all_messages SELECT * FROM sluice.messages;
      INSERT INTO sluice.all_attempts SELECT * FROM sluice.attempts;
      DROP TABLE sluice.messages, sluice.attempts;
      ALTER TABLE sluice.all_messages RENAME TO messages;
      ALTER TABLE sluice.all_attempts RENAME TO attempts;
      ${INDEXES}
    `);
  }
}
