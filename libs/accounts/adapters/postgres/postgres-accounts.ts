import { ILike, IsNull, LessThan, Raw, type EntityManager, type FindOptionsWhere } from 'typeorm';
import type { DeliveryMode } from '#kernel/delivery-mode.js';
import type { Page } from '#kernel/page.js';
import { isTypeId } from '#kernel/typeid.js';
import { Batcher } from '#platform/concurrency/batcher.js';
import type { Database } from '#platform/database/database.js';
import { FOREIGN_KEY_VIOLATION, sqlState } from '#platform/database/errors.js';
import type { Repositories } from '#platform/database/repositories.js';
import { SharedReads } from '#platform/shared-reads.js';
import { Accounts, type AccountFilter, type Actor, type FoundKey } from '../../application/accounts.js';
import { externalIdTaken, type Account } from '../../domain/account.js';
import { MAX_KEYS, rotateExpiry, type ApiKey } from '../../domain/api-key.js';
import { planMissing } from '../../domain/plan.js';
import { AccountSchema, ApiKeySchema, type StoredApiKey } from './accounts.schema.js';

interface FoundRow extends ApiKey {
  readonly epoch: string;
  readonly suspended: boolean;
  readonly delivery: DeliveryMode;
  readonly hash: Buffer;
}

const FIND_KEYS = `
  SELECT k.id, account_id AS "accountId", k.name, hint, scopes, k.created_at AS "createdAt", expires_at AS "expiresAt",
         last_used_at AS "lastUsedAt", epoch, suspended, delivery, hash
  FROM sluice.api_keys k JOIN sluice.accounts a ON a.id = account_id
  WHERE hash = ANY ($1::bytea[]) AND revoked_at IS NULL AND NOT deleting`;

// All processes reach a new minute at once: rows are locked in one order to avoid deadlocks.
const SAVE_LAST_USES = `
  WITH used AS (
    SELECT k.id, t.at FROM unnest($1::text[], $2::timestamptz[]) AS t (id, at) JOIN sluice.api_keys k ON k.id = t.id
    WHERE last_used_at IS NULL OR last_used_at < t.at
    ORDER BY k.id FOR NO KEY UPDATE OF k
  )
  UPDATE sluice.api_keys k SET last_used_at = at FROM used WHERE k.id = used.id`;

const ROTATING = {
  ...{
    id: true,
    accountId: true,
    name: true,
    hint: true,
    scopes: true,
    createdAt: true,
    expiresAt: true,
    lastUsedAt: true,
  },
  ...{ rotatedAt: true, createdToExpireAt: true },
} as const;

/** The epochs of accounts are moved by triggers, in the transaction that changes an account or a key. */
export class PostgresAccounts extends Accounts {
  /** Many uncached keys arrive at once after a start, or when there are more keys than the cache holds. */
  private readonly keys = new Batcher((hashes: Buffer[]) => this.findKeys(hashes), {
    maxItems: 1_000,
    maxWaiting: 20_000,
    concurrency: 2,
  });

  private readonly shared = new SharedReads();

  private constructor(
    private readonly database: Database,
    private readonly repositories: Repositories,
    private readonly lookups: Database,
  ) {
    super();
  }

  /** @param lookups for looking up keys */
  static async open(database: Database, lookups = database): Promise<PostgresAccounts> {
    return new PostgresAccounts(database, await database.repositories([AccountSchema, ApiKeySchema]), lookups);
  }

  add(account: Account, key: ApiKey, hash: Buffer): Promise<void> {
    return this.repositories
      .transaction(async (manager) => {
        await manager.insert(AccountSchema, account).catch((error: unknown) => {
          throw sqlState(error) === FOREIGN_KEY_VIOLATION ? planMissing() : error;
        });
        await insertKey(manager, key, hash);
      })
      .catch(explainTaken);
  }

  async find(id: string, by: Actor): Promise<Account | null> {
    if (!isTypeId('acct', id)) return null;
    const key = limitKey(id, by);
    return this.shared.read(key, () =>
      this.repositories.read(key, (manager) => manager.findOneBy(AccountSchema, { id, deleting: false })),
    );
  }

  list({ limit, before, onlySuspended, name, externalId }: Page & AccountFilter): Promise<Account[]> {
    const where = {
      ...{ deleting: false, ...olderThan(before) },
      ...(onlySuspended && { suspended: true }),
      ...(name !== undefined && { name: ILike(`%${name.replaceAll(/[\\%_]/g, '\\$&')}%`) }),
      ...(externalId !== undefined && { externalId }),
    };
    return this.repositories.run((manager) =>
      manager.find(AccountSchema, { where, order: { id: 'DESC' }, take: limit }),
    );
  }

  async update(
    id: string,
    change: (account: Account) => Account | Promise<Account>,
    by: Actor,
  ): Promise<Account | null> {
    if (!isTypeId('acct', id)) return null;
    const work = async (manager: EntityManager) => {
      if (!(await lockAccount(manager, id))) return null;
      const account = await manager.findOneByOrFail(AccountSchema, { id });
      const changed = await change(account);
      await manager.update(AccountSchema, id, {
        name: changed.name,
        plan: changed.plan,
        agreed: changed.agreed,
        suspended: changed.suspended,
        delivery: changed.delivery,
        paused: changed.paused,
        externalId: changed.externalId,
      });
      return changed;
    };
    return this.repositories.change(limitKey(id, by), work).catch(explainTaken);
  }

  findKey(hash: Buffer): Promise<FoundKey | null> {
    return this.keys.submit(hash);
  }

  listKeys(accountId: string, { limit, before }: Page, by: Actor): Promise<ApiKey[]> {
    const where = { accountId, revokedAt: IsNull(), ...olderThan(before) };
    const key = limitKey(accountId, by);
    return this.shared.read(`keys ${key} ${limit} ${before ?? ''}`, () =>
      this.repositories.read(key, (manager) =>
        manager.find(ApiKeySchema, { where, order: { id: 'DESC' }, take: limit }),
      ),
    );
  }

  addKey(key: ApiKey, hash: Buffer, by: Actor = 'account'): Promise<boolean | null> {
    return this.repositories.change(limitKey(key.accountId, by), async (manager) => {
      if (!(await lockAccount(manager, key.accountId))) return null;
      const live = await manager.countBy(ApiKeySchema, liveKeys(key.accountId, key.createdAt));
      if (live >= MAX_KEYS) return false;
      await insertKey(manager, key, hash);
      return true;
    });
  }

  exchangeSecret({ id, accountId, hint }: ApiKey, old: Buffer, hash: Buffer): Promise<boolean> {
    return this.repositories.change(accountId, async (manager) => {
      if (!(await lockAccount(manager, accountId))) return false;
      const found = { id, hash: old, revokedAt: IsNull() };
      const { affected } = await manager.update(ApiKeySchema, found, { hint, hash });
      return affected === 1;
    });
  }

  async revokeKey(accountId: string, keyId: string, at: Date, by: Actor): Promise<boolean> {
    if (!isTypeId('key', keyId)) return false;
    return this.repositories.change(limitKey(accountId, by), async (manager) => {
      await lockAccount(manager, accountId);
      const unrevoked = { id: keyId, accountId, revokedAt: IsNull() };
      const { affected } = await manager.update(ApiKeySchema, unrevoked, { revokedAt: at });
      return affected === 1;
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
    return this.repositories.change(accountId, async (manager) => {
      if (!(await lockAccount(manager, accountId))) return null;
      const live = await manager.find(ApiKeySchema, { where: liveKeys(accountId, at), select: ROTATING });
      const found = live.find(({ id }) => id === keyId);
      if (found === undefined) return null;
      const { rotatedAt, createdToExpireAt, ...old } = found;
      const { expiresAt, successorExpiresAt } = rotateExpiry(found, endsAt);
      const bothLive = endsAt > at;
      if (bothLive && live.length >= MAX_KEYS) return false;
      const key = successor({ ...old, expiresAt: successorExpiresAt });
      const rotated = { expiresAt, rotatedAt: at, createdToExpireAt: successorExpiresAt };
      await manager.update(ApiKeySchema, keyId, bothLive ? rotated : { revokedAt: endsAt });
      await insertKey(manager, key, hash);
      return key;
    });
  }

  async saveLastUses(uses: ReadonlyMap<string, Date>): Promise<void> {
    await this.database.query(SAVE_LAST_USES, [[...uses.keys()], [...uses.values()]]);
  }

  private async findKeys(hashes: Buffer[]): Promise<(FoundKey | null)[]> {
    const rows = await this.lookups.prepared<FoundRow>('find-keys', FIND_KEYS, [hashes]);
    const found = new Map(
      rows.map(({ epoch, suspended, delivery, hash, ...key }) => [
        hash.toString('base64'),
        { key, epoch: Number(epoch), suspended, delivery },
      ]),
    );
    return hashes.map((hash) => found.get(hash.toString('base64')) ?? null);
  }
}

// Everything that changes an account or its keys locks the account first: keys are counted and added by one transaction
// at a time, and no two wait for each other. It is read by another statement: one that has waited for the lock would read
// the limits of its plan as they were before. Returns whether there is such an account.
async function lockAccount(manager: EntityManager, id: string): Promise<boolean> {
  const text = 'SELECT FROM sluice.accounts WHERE id = $1 AND NOT deleting FOR NO KEY UPDATE';
  return (await manager.query<object[]>(text, [id])).length > 0;
}

function explainTaken(error: unknown): never {
  const { constraint } =
    (error as { readonly driverError?: { readonly constraint?: string } } | null)?.driverError ?? {};
  throw constraint === 'accounts_external_id' ? externalIdTaken() : error;
}

function limitKey(accountId: string, by: Actor): string {
  return by === 'operator' ? `${by} ${accountId}` : accountId;
}

async function insertKey(manager: EntityManager, key: ApiKey, hash: Buffer): Promise<void> {
  await manager.insert(ApiKeySchema, { ...key, scopes: [...key.scopes], hash });
}

function liveKeys(accountId: string, at: Date): FindOptionsWhere<StoredApiKey> {
  // As the index has it: with OR, the planner may read all that have expired.
  const expiresAt = Raw((column) => `coalesce(${column}, 'infinity') > :at`, { at });
  return { accountId, revokedAt: IsNull(), expiresAt };
}

function olderThan(before: string | null) {
  return before === null ? {} : { id: LessThan(before) };
}
