import { DomainError } from '#kernel/domain-error.js';
import { isTypeId } from '#kernel/typeid.js';
import type { Database } from '#platform/database/database.js';
import type { Repositories } from '#platform/database/repositories.js';
import { Bans, type Ban, type BanPage } from '../../application/bans.js';
import { deleteInSteps, NOW_MS } from './delete-in-steps.js';

const BAN = `
  key_id AS "keyId", account_id AS "accountId", reason, to_timestamp(banned_at_ms / 1000.0) AS "bannedAt",
  to_timestamp(banned_until_ms / 1000.0) AS "bannedUntil"`;

// A SELECT, for which TypeORM returns rows.
const LIFT = `
  WITH lifted AS (DELETE FROM sluice.offences WHERE key_id = $1 AND banned_until_ms > ${NOW_MS} RETURNING *)
  SELECT ${BAN} FROM lifted`;

export class PostgresBans extends Bans {
  private constructor(
    private readonly database: Database,
    private readonly repositories: Repositories,
  ) {
    super();
  }

  static async open(database: Database): Promise<PostgresBans> {
    return new PostgresBans(database, await database.repositories([]));
  }

  list({ limit, before, accountId }: BanPage): Promise<Ban[]> {
    return this.database.query<Ban>(
      `SELECT ${BAN}
       FROM sluice.offences
       WHERE banned_until_ms > ${NOW_MS} AND ($2::text IS NULL OR key_id < $2) AND ($3::text IS NULL OR account_id = $3)
       ORDER BY key_id DESC LIMIT $1`,
      [limit, before, accountId],
    );
  }

  async lift(keyId: string): Promise<Ban> {
    if (!isTypeId('key', keyId)) throw banNotFound();
    const [ban] = await this.repositories.run((manager) => manager.query<Ban[]>(LIFT, [keyId]));
    if (ban === undefined) throw banNotFound();
    return ban;
  }

  deleteExpired(): Promise<void> {
    const expired = `greatest(banned_at_ms, banned_until_ms, strikes_end_ms, refusing_window_ends_ms) < ${NOW_MS} - 86400000`;
    return deleteInSteps(this.database, 'sluice.offences', 'key_id', expired);
  }
}

function banNotFound(): DomainError {
  return new DomainError('ban_not_found', 'No key with this id is banned.');
}
