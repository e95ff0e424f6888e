import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Accounts1763700000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE sluice.accounts (
        id text COLLATE "C" PRIMARY KEY,
        name text NOT NULL,
        plan text NOT NULL CHECK (plan IN ('free', 'pro', 'business', 'enterprise')),
        per_minute integer NOT NULL CHECK (per_minute > 0),
        per_day integer NOT NULL CHECK (per_day > 0),
        -- Moves with every change of the account or of one of its keys: whoever cached either must look again.
        epoch bigint NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL
      );
      CREATE TABLE sluice.api_keys (
        id text COLLATE "C" PRIMARY KEY,
        account_id text COLLATE "C" NOT NULL REFERENCES sluice.accounts,
        name text NOT NULL,
        hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
        scopes text[] NOT NULL,
        created_at timestamptz NOT NULL,
        expires_at timestamptz,
        revoked_at timestamptz,
        last_used_at timestamptz
      );
      CREATE INDEX api_keys_by_account ON sluice.api_keys (account_id, id);

      -- Triggers, so that it holds for whoever changes a row, also by hand.
      CREATE FUNCTION sluice.move_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_TABLE_NAME = 'accounts' THEN
          NEW.epoch := OLD.epoch + 1;
          RETURN NEW;
        END IF;
        UPDATE sluice.accounts SET epoch = epoch + 1 WHERE id = OLD.account_id;
        RETURN NULL;
      END $$;
      CREATE TRIGGER account_changed BEFORE UPDATE OF plan, per_minute, per_day ON sluice.accounts
        FOR EACH ROW EXECUTE FUNCTION sluice.move_epoch();
      CREATE TRIGGER key_changed AFTER UPDATE OF account_id, hash, scopes, expires_at, revoked_at OR DELETE
        ON sluice.api_keys FOR EACH ROW EXECUTE FUNCTION sluice.move_epoch();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE sluice.api_keys; DROP TABLE sluice.accounts; DROP FUNCTION sluice.move_epoch;');
  }
}
