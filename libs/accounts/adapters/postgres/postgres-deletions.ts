import { isTypeId } from '#kernel/typeid.js';
import type { Database } from '#platform/database/database.js';
import type { Repositories } from '#platform/database/repositories.js';
import { Deletions, type NewDeletion } from '../../application/deletions.js';

/** Deletions of one round. */
const AT_ONCE = 20;

/** A process that has not asked for so long has died. */
const LEASE = `interval '15 seconds'`;

/**
 * Longer than any statement, or what a process has in memory to store later, such as jobs and counts. A process that was
 * stopped for longer is refused by what reads `sluice.is_account_deleted`.
 */
const SETTLED = `interval '60 seconds'`;

const DIGEST = `sha256(convert_to($1, 'UTF8'))`;

// In statements of their own: the last one sees what a concurrent request has stored, which the first one waits for.
const DELETE = `
  UPDATE sluice.accounts SET deleting = true, suspended = true, name = '', external_id = NULL
  WHERE id = $1 AND NOT deleting`;
const NOTE = `
  INSERT INTO sluice.deleted_accounts (digest, account_id)
  SELECT ${DIGEST}, id FROM sluice.accounts WHERE id = $1 AND deleting
  ON CONFLICT DO NOTHING RETURNING 1`;
const FIND = `SELECT requested_at AS "requestedAt" FROM sluice.deleted_accounts WHERE digest = ${DIGEST}`;

const TAKE = `
  UPDATE sluice.deleted_accounts d SET worker = $1, worker_until = clock_timestamp() + ${LEASE}
  WHERE digest IN (
    SELECT digest FROM sluice.deleted_accounts
    WHERE account_id IS NOT NULL AND next_pass_at <= clock_timestamp() AND NOT EXISTS (
      SELECT FROM sluice.deleted_accounts WHERE account_id IS NOT NULL AND worker <> $1 AND worker_until > clock_timestamp()
    )
    ORDER BY worker_until NULLS FIRST LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED
  )
  RETURNING account_id AS id`;

const RELEASE = `UPDATE sluice.deleted_accounts SET worker_until = NULL WHERE account_id IS NOT NULL AND worker = $1`;

// The second pass begins when everything is settled, the third so long after the row was removed.
const PASSED = `
  WITH pass AS (
    SELECT digest, passes FROM sluice.deleted_accounts WHERE account_id = $1 FOR UPDATE
  ), removed AS (
    DELETE FROM sluice.accounts WHERE id = $1 AND deleting AND $2 AND EXISTS (SELECT FROM pass WHERE passes > 0)
  )
  UPDATE sluice.deleted_accounts d
  SET passes = d.passes + $2::boolean::int,
      next_pass_at = CASE WHEN NOT $2 THEN clock_timestamp() + interval '5 seconds'
                          WHEN pass.passes = 0 THEN requested_at + ${SETTLED}
                          ELSE clock_timestamp() + ${SETTLED} END,
      account_id = CASE WHEN $2 AND pass.passes > 1 THEN NULL ELSE account_id END
  FROM pass WHERE d.digest = pass.digest
  RETURNING account_id IS NULL AS finished`;

export class PostgresDeletions extends Deletions {
  private constructor(
    private readonly database: Database,
    private readonly repositories: Repositories,
  ) {
    super();
  }

  static async open(database: Database): Promise<PostgresDeletions> {
    return new PostgresDeletions(database, await database.repositories([]));
  }

  async request(id: string): Promise<NewDeletion | null> {
    if (!isTypeId('acct', id)) return null;
    return this.repositories.change(`operator ${id}`, async (manager) => {
      await manager.query(DELETE, [id]);
      const noted = await manager.query<unknown[]>(NOTE, [id]);
      const [row] = await manager.query<{ requestedAt: Date }[]>(FIND, [id]);
      return row === undefined ? null : { accountId: id, ...row, isNew: noted.length > 0 };
    });
  }

  async take(worker: string): Promise<string[]> {
    return (await this.database.query<{ id: string }>(TAKE, [worker])).map(({ id }) => id);
  }

  async release(worker: string): Promise<void> {
    await this.database.query(RELEASE, [worker]);
  }

  async passed(accountId: string, isComplete: boolean): Promise<boolean> {
    const [row] = await this.database.query<{ finished: boolean }>(PASSED, [accountId, isComplete]);
    return row?.finished === true;
  }
}
