import type { Database } from '#platform/database/database.js';
import { Accounts } from '../../application/accounts.js';
import type { Account } from '../../domain/account.js';
import type { ApiKey, Scope } from '../../domain/api-key.js';

interface KeyRow {
  id: string;
  account_id: string;
  name: string;
  scopes: Scope[];
  created_at: Date;
  expires_at: Date | null;
}

export class PostgresAccounts extends Accounts {
  constructor(private readonly database: Database) {
    super();
  }

  async add(account: Account, key: ApiKey, hash: Buffer): Promise<void> {
    // One statement is one transaction, in one round trip.
    await this.database.query(
      `WITH account AS (
         INSERT INTO sluice.accounts (id, name, plan, created_at) VALUES ($1, $2, $3, $4) RETURNING id
       )
       INSERT INTO sluice.api_keys (id, account_id, name, hash, scopes, created_at, expires_at)
       SELECT $5, id, $6, $7, $8, $9, $10 FROM account`,
      [
        account.id,
        account.name,
        account.plan,
        account.createdAt,
        key.id,
        key.name,
        hash,
        key.scopes,
        key.createdAt,
        key.expiresAt,
      ],
    );
  }

  async findKey(hash: Buffer): Promise<ApiKey | null> {
    const [row] = await this.database.prepared<KeyRow>(
      'find-key',
      `SELECT id, account_id, name, scopes, created_at, expires_at
       FROM sluice.api_keys WHERE hash = $1 AND revoked_at IS NULL`,
      [hash],
    );
    if (row === undefined) return null;
    return {
      id: row.id,
      accountId: row.account_id,
      name: row.name,
      scopes: row.scopes,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
    };
  }
}
