import { DomainError } from '#kernel/domain-error.js';
import { isTypeId } from '#kernel/typeid.js';
import type { Database } from '#platform/database/database.js';
import { Bans, type Ban, type BanPage } from '../../application/bans.js';
import { deleteInSteps, NOW_MS } from './delete-in-steps.js';

export class PostgresBans extends Bans {
  constructor(private readonly database: Database) {
    super();
  }

  list({ limit, before, accountId }: BanPage): Promise<Ban[]> {
    return this.database.query<Ban>(
      `SELECT key_id AS "keyId", account_id AS "accountId", reason, to_timestamp(banned_at_ms / 1000.0) AS "bannedAt",
              to_timestamp(banned_until_ms / 1000.0) AS "bannedUntil"
       FROM sluice.offences
       WHERE banned_until_ms > ${NOW_MS} AND ($2::text IS NULL OR key_id < $2) AND ($3::text IS NULL OR account_id = $3)
       ORDER BY key_id DESC LIMIT $1`,
      [limit, before, accountId],
    );
  }

  async lift(keyId: string): Promise<void> {
    if (!isTypeId('key', keyId)) throw banNotFound();
    const rows = await this.database.query(
      `DELETE FROM sluice.offences WHERE key_id = $1 AND banned_until_ms > ${NOW_MS} RETURNING key_id`,
      [keyId],
    );
    if (rows.length === 0) throw banNotFound();
  }

  deleteExpired(): Promise<void> {
    const expired = `greatest(banned_at_ms, banned_until_ms, strikes_end_ms, refusing_window_ends_ms) < ${NOW_MS} - 86400000`;
    return deleteInSteps(this.database, 'sluice.offences', 'key_id', expired);
  }
}

function banNotFound(): DomainError {
  return new DomainError('ban_not_found', 'No key with this id is banned.');
}
