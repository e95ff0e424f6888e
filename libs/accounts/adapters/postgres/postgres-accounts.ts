import type { PoolClient } from 'pg';
import { isTypeId } from '#kernel/typeid.js';
import { Batcher } from '#platform/batcher.js';
import type { Database } from '#platform/database/database.js';
import { Accounts, type FoundKey, type Page } from '../../application/accounts.js';
import { Account } from '../../domain/account.js';
import { MAX_KEYS, type ApiKey, type Scope } from '../../domain/api-key.js';
import type { Plan } from '../../domain/plan.js';

interface AccountRow {
  id: string;
  name: string;
  plan: Plan;
  per_minute: number;
  per_day: number;
  created_at: Date;
}

interface KeyRow {
  id: string;
  account_id: string;
  name: string;
  scopes: Scope[];
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
}

interface FoundRow extends KeyRow {
  epoch: string;
  hash: Buffer;
}

const ACCOUNT = 'SELECT id, name, plan, per_minute, per_day, created_at FROM sluice.accounts';
const FIND_KEYS = `
  SELECT k.id, account_id, k.name, scopes, k.created_at, expires_at, last_used_at, epoch, hash
  FROM sluice.api_keys k JOIN sluice.accounts a ON a.id = account_id
  WHERE hash = ANY ($1::bytea[]) AND revoked_at IS NULL`;
const KEY = 'SELECT id, account_id, name, scopes, created_at, expires_at, last_used_at FROM sluice.api_keys';
// Whoever changes keys locks the account first: two calls that lock in different orders could lock each other out.
const LOCK_ACCOUNT = 'SELECT FROM sluice.accounts WHERE id = $1 FOR NO KEY UPDATE';
const INSERT_KEY = `
  INSERT INTO sluice.api_keys (id, account_id, name, hash, scopes, created_at, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`;

export class PostgresAccounts extends Accounts {
  /** Keys that nobody remembers come in crowds: after a start, and where there are more accounts than are remembered. */
  private readonly keys = new Batcher((hashes: Buffer[]) => this.findKeys(hashes), {
    maxItems: 1_000,
    maxWaiting: 20_000,
    concurrency: 2,
  });

  constructor(private readonly database: Database) {
    super();
  }

  async add(account: Account, key: ApiKey, hash: Buffer): Promise<void> {
    await this.database.transaction(async (client) => {
      await client.query(
        `INSERT INTO sluice.accounts (id, name, plan, per_minute, per_day, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
        [account.id, account.name, account.plan, account.limits.perMinute, account.limits.perDay, account.createdAt],
      );
      await client.query(INSERT_KEY, keyValues(key, hash));
    });
  }

  async find(id: string): Promise<Account | null> {
    if (!isTypeId('acct', id)) return null;
    const [row] = await this.database.query<AccountRow>(`${ACCOUNT} WHERE id = $1`, [id]);
    return row === undefined ? null : toAccount(row);
  }

  async list({ limit, before }: Page): Promise<Account[]> {
    const rows = await this.database.query<AccountRow>(
      `${ACCOUNT} WHERE $2::text IS NULL OR id < $2 ORDER BY id DESC LIMIT $1`,
      [limit, before],
    );
    return rows.map(toAccount);
  }

  async update(id: string, change: (account: Account) => Account): Promise<Account | null> {
    if (!isTypeId('acct', id)) return null;
    return this.database.transaction(async (client) => {
      const { rows } = await client.query<AccountRow>(`${ACCOUNT} WHERE id = $1 FOR NO KEY UPDATE`, [id]);
      if (rows[0] === undefined) return null;
      const account = change(toAccount(rows[0]));
      const { perMinute, perDay } = account.limits;
      await client.query('UPDATE sluice.accounts SET plan = $2, per_minute = $3, per_day = $4 WHERE id = $1', [
        ...[id, account.plan, perMinute, perDay],
      ]);
      return account;
    });
  }

  findKey(hash: Buffer): Promise<FoundKey | null> {
    return this.keys.submit(hash);
  }

  async listKeys(accountId: string, { limit, before }: Page): Promise<ApiKey[]> {
    const rows = await this.database.query<KeyRow>(
      `${KEY} WHERE account_id = $1 AND revoked_at IS NULL AND ($3::text IS NULL OR id < $3) ORDER BY id DESC LIMIT $2`,
      [accountId, limit, before],
    );
    return rows.map(toKey);
  }

  addKey(key: ApiKey, hash: Buffer): Promise<boolean> {
    return this.database.transaction(async (client) => {
      if ((await lockAndCountKeys(client, key.accountId, key.createdAt)) >= MAX_KEYS) return false;
      await client.query(INSERT_KEY, keyValues(key, hash));
      return true;
    });
  }

  async revokeKey(accountId: string, keyId: string, at: Date): Promise<boolean> {
    if (!isTypeId('key', keyId)) return false;
    return this.database.transaction(async (client) => {
      await client.query(LOCK_ACCOUNT, [accountId]);
      const { rowCount } = await client.query(
        'UPDATE sluice.api_keys SET revoked_at = $3 WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL',
        [accountId, keyId, at],
      );
      return rowCount === 1;
    });
  }

  async replaceKey(
    accountId: string,
    keyId: string,
    at: Date,
    endsAt: Date,
    hash: Buffer,
    successor: (old: ApiKey) => ApiKey,
  ): Promise<ApiKey | false | null> {
    if (!isTypeId('key', keyId)) return null;
    return this.database.transaction(async (client) => {
      const live = await lockAndCountKeys(client, accountId, at);
      const { rows } = await client.query<KeyRow>(
        `${KEY} WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)`,
        [accountId, keyId, at],
      );
      const [old] = rows;
      if (old === undefined) return null;
      const bothLive = endsAt > at;
      if (bothLive && live >= MAX_KEYS) return false;
      const key = successor(toKey(old));
      await client.query(
        bothLive
          ? 'UPDATE sluice.api_keys SET expires_at = least(expires_at, $2) WHERE id = $1'
          : 'UPDATE sluice.api_keys SET revoked_at = $2 WHERE id = $1',
        [old.id, endsAt],
      );
      await client.query(INSERT_KEY, keyValues(key, hash));
      return key;
    });
  }

  async noteUse(uses: ReadonlyMap<string, Date>): Promise<void> {
    // All processes turn to a new minute at once: rows are locked in one order, so that none locks another out.
    await this.database.query(
      `WITH used AS (
         SELECT k.id, t.at FROM unnest($1::text[], $2::timestamptz[]) AS t (id, at) JOIN sluice.api_keys k ON k.id = t.id
         WHERE last_used_at IS NULL OR last_used_at < t.at
         ORDER BY k.id FOR NO KEY UPDATE OF k
       )
       UPDATE sluice.api_keys k SET last_used_at = at FROM used WHERE k.id = used.id`,
      [[...uses.keys()], [...uses.values()]],
    );
  }

  private async findKeys(hashes: Buffer[]): Promise<(FoundKey | null)[]> {
    const rows = await this.database.prepared<FoundRow>('find-keys', FIND_KEYS, [hashes]);
    const found = new Map(
      rows.map((row) => [row.hash.toString('base64'), { key: toKey(row), epoch: Number(row.epoch) }]),
    );
    return hashes.map((hash) => found.get(hash.toString('base64')) ?? null);
  }
}

// The lock on the account keeps two calls from counting at the same moment and both finding room.
async function lockAndCountKeys(client: PoolClient, accountId: string, at: Date): Promise<number> {
  await client.query(LOCK_ACCOUNT, [accountId]);
  const { rows } = await client.query<{ live: number }>(
    `SELECT count(*)::int AS live FROM sluice.api_keys
     WHERE account_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`,
    [accountId, at],
  );
  return rows[0]?.live ?? 0;
}

function keyValues(key: ApiKey, hash: Buffer): unknown[] {
  return [key.id, key.accountId, key.name, hash, key.scopes, key.createdAt, key.expiresAt];
}

function toAccount(row: AccountRow): Account {
  const limits = { perMinute: row.per_minute, perDay: row.per_day };
  return new Account(row.id, row.name, row.plan, limits, row.created_at);
}

function toKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    scopes: row.scopes,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  };
}
