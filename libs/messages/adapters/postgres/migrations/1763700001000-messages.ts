import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Messages1763700001000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE sluice.messages (
        id text COLLATE "C" PRIMARY KEY,
        account_id text COLLATE "C" NOT NULL,
        body text NOT NULL CHECK (octet_length(body) BETWEEN 1 AND 262144),
        status text NOT NULL CHECK (status IN ('queued', 'processing', 'delivered', 'failed', 'cancelled')),
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        attempts integer NOT NULL DEFAULT 0,
        failures integer NOT NULL DEFAULT 0,
        crashes integer NOT NULL DEFAULT 0,
        lone_crashes integer NOT NULL DEFAULT 0,
        retries integer NOT NULL DEFAULT 0,
        failure_reason text,
        claim uuid,
        claim_expires_at timestamptz,
        claim_alone boolean NOT NULL DEFAULT false,
        CHECK ((status = 'processing') = (claim IS NOT NULL)),
        CHECK ((claim IS NULL) = (claim_expires_at IS NULL))
      );
      -- Ids sort by time, so this serves both the list of an account and its pages.
      CREATE INDEX messages_by_account ON sluice.messages (account_id, id);
      CREATE INDEX messages_failed ON sluice.messages (account_id, id) WHERE status = 'failed';
      -- What the census walks: it must not read all that was ever delivered.
      CREATE INDEX messages_open ON sluice.messages (id) WHERE status IN ('queued', 'processing');

      CREATE TABLE sluice.outbox (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        message_ids text[] NOT NULL CHECK (cardinality(message_ids) > 0),
        bytes integer NOT NULL,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        due_at timestamptz NOT NULL DEFAULT clock_timestamp()
      );
      CREATE INDEX outbox_due ON sluice.outbox (due_at, id);

      CREATE TABLE sluice.idempotency_keys (
        account_id text COLLATE "C" NOT NULL,
        key text COLLATE "C" NOT NULL,
        fingerprint bytea NOT NULL CHECK (length(fingerprint) = 32),
        message_id text COLLATE "C" NOT NULL,
        created_at timestamptz NOT NULL,
        PRIMARY KEY (account_id, key)
      );
      CREATE INDEX idempotency_keys_by_age ON sluice.idempotency_keys USING brin (created_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE sluice.idempotency_keys; DROP TABLE sluice.outbox; DROP TABLE sluice.messages;');
  }
}
