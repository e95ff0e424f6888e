import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Accounts1763700000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE sluice.accounts (
        id text COLLATE "C" PRIMARY KEY,
        name text NOT NULL,
        plan text NOT NULL CHECK (plan IN ('free', 'pro', 'business', 'enterprise')),
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
        revoked_at timestamptz
      );
      CREATE INDEX api_keys_by_account ON sluice.api_keys (account_id, id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE sluice.api_keys; DROP TABLE sluice.accounts;');
  }
}
