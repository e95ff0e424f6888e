import { DomainError } from '#kernel/domain-error.js';
import { isTypeId } from '#kernel/typeid.js';
import type { Database } from '#platform/database/database.js';
import { Bans, type Ban } from '../../bans.js';
import { forgetRows, NOW_MS } from './forget-rows.js';

interface BanRow {
  key_id: string;
  account_id: string;
  reason: string;
  banned_at: Date;
  banned_until: Date;
}

export class PostgresBans extends Bans {
  constructor(private readonly database: Database) {
    super();
  }

  async list({ limit, before }: { limit: number; before: string | null }): Promise<Ban[]> {
    const rows = await this.database.query<BanRow>(
      `SELECT key_id, account_id, reason, to_timestamp(banned_at_ms / 1000.0) AS banned_at,
              to_timestamp(banned_until_ms / 1000.0) AS banned_until
       FROM sluice.offences
       WHERE banned_until_ms > ${NOW_MS} AND ($2::text IS NULL OR key_id < $2) ORDER BY key_id DESC LIMIT $1`,
      [limit, before],
    );
    return rows.map((row) => ({
      keyId: row.key_id,
      accountId: row.account_id,
      reason: row.reason,
      bannedAt: row.banned_at,
      bannedUntil: row.banned_until,
    }));
  }

  async lift(keyId: string): Promise<void> {
    if (!isTypeId('key', keyId)) throw banNotFound();
    const rows = await this.database.query(
      `DELETE FROM sluice.offences WHERE key_id = $1 AND banned_until_ms > ${NOW_MS} RETURNING key_id`,
      [keyId],
    );
    if (rows.length === 0) throw banNotFound();
  }

  forget(): Promise<void> {
    const lapsed = `greatest(banned_at_ms, banned_until_ms, strikes_end_ms, refusing_window_ends_ms) < ${NOW_MS} - 86400000`;
    return forgetRows(this.database, 'sluice.offences', 'key_id', lapsed);
  }
}

function banNotFound(): DomainError {
  return new DomainError('ban_not_found', 'No key with this id is banned.');
}
