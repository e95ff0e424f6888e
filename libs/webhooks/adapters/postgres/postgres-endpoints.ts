import { In, LessThan, type EntityManager } from 'typeorm';
import type { Page } from '#kernel/page.js';
import { Not } from 'typeorm';
import { isTypeId } from '#kernel/typeid.js';
import { CONNECTION_LIMITS } from '#platform/database/connection.js';
import type { Database } from '#platform/database/database.js';
import { SharedReads } from '#platform/shared-reads.js';
import type { Repositories } from '#platform/database/repositories.js';
import {
  Endpoints,
  type EndedEndpoint,
  type RateGrant,
  type Sealed,
  type StoredSecret,
  type Target,
} from '../../application/endpoints/endpoints.js';
import { assertDistinct, MAX_ENDPOINTS, tooManyEndpoints, type Endpoint } from '../../domain/endpoint.js';
import { EndpointSchema, type StoredEndpoint } from './endpoints.schema.js';

// A bucket that leaks: rate_taken has the thousandths of requests that were in it at rate_second. It is smaller than a
// second of requests, so that a full one and what leaks within a second are never more than the limit together.
const TAKE_RATE = `
  WITH held AS (
    SELECT e.id, wanted, rate_taken, rate_second, greatest(rate_second, statement_timestamp()) AS now,
           size, greatest(1, rate_limit_per_second + 1 - size) AS leak
    FROM unnest($1::text[], $2::int[]) AS t (id, wanted) JOIN sluice.endpoints e USING (id),
         LATERAL (SELECT greatest(1, rate_limit_per_second / 20) AS size) AS bucket
    ORDER BY e.id FOR NO KEY UPDATE OF e
  ), filled AS (
    SELECT *, greatest(0, ceil(rate_taken - leak * 1000 * extract(epoch FROM now - rate_second)))::int AS level FROM held
  ), granted AS (
    SELECT *, greatest(0, least(wanted, size - ceil(level / 1000.0)))::int AS granted FROM filled
  ), taken AS (
    UPDATE sluice.endpoints e SET rate_second = now, rate_taken = level + 1000 * granted
    FROM granted WHERE e.id = granted.id AND granted > 0
  )
  SELECT id, granted AS count, (level + 1000 * granted) / leak::float8 AS "emptyInMs" FROM granted`;

const ENDED = `
  SELECT id, reason, xmin::text AS version,
         noted_at < clock_timestamp() - interval '${CONNECTION_LIMITS.statement_timeout} milliseconds' AS "isSettled"
  FROM sluice.ended_endpoints
  WHERE pg_try_advisory_xact_lock(hashtext('sluice.ended_endpoints')) ORDER BY id`;

const IS_ANY_ENDED = 'SELECT FROM sluice.ended_endpoints LIMIT 1';

const PLANNED = 'SELECT max_endpoints FROM sluice.account_plans WHERE id = $1';

const SEALED = `
  (SELECT id, account_id, sealed FROM sluice.endpoints, jsonb_to_recordset(secrets) AS secret (sealed jsonb)
   UNION ALL SELECT id, account_id, headers FROM sluice.endpoints WHERE headers IS NOT NULL) stored`;
const KEY_IDS = `SELECT DISTINCT sealed->>'keyId' AS "keyId" FROM ${SEALED}`;
const SEALED_UNDER_OTHER_KEYS = `
  SELECT DISTINCT id, account_id AS "accountId" FROM ${SEALED} WHERE sealed->>'keyId' <> $1`;

export class PostgresEndpoints extends Endpoints {
  private readonly shared = new SharedReads();

  private constructor(
    private readonly database: Database,
    private readonly repositories: Repositories,
  ) {
    super();
  }

  static async open(database: Database): Promise<PostgresEndpoints> {
    return new PostgresEndpoints(database, await database.repositories([EndpointSchema]));
  }

  add({ secrets, ...endpoint }: Endpoint & Sealed): Promise<void> {
    const { accountId } = endpoint;
    return this.repositories.change(accountId, async (manager) => {
      const others = await otherUrls(manager, accountId, endpoint.id);
      const max = await maxEndpoints(manager, accountId);
      if (others.length >= max) throw tooManyEndpoints(max);
      assertDistinct(endpoint.url, others);
      await manager.insert(EndpointSchema, { ...endpoint, secrets: stored(secrets) });
    });
  }

  async find(accountId: string, id: string): Promise<Endpoint | null> {
    if (!isTypeId('ep', id)) return null;
    return this.repositories.read(accountId, (manager) => manager.findOneBy(EndpointSchema, { id, accountId }));
  }

  list(accountId: string, { limit, before }: Page): Promise<Endpoint[]> {
    const where = { accountId, ...(before === null ? {} : { id: LessThan(before) }) };
    return this.shared.read(`${accountId} ${limit} ${before ?? ''}`, () =>
      this.repositories.read(accountId, (manager) =>
        manager.find(EndpointSchema, { where, order: { id: 'DESC' }, take: limit }),
      ),
    );
  }

  async update(
    accountId: string,
    id: string,
    change: (endpoint: Endpoint) => Endpoint & Partial<Pick<Sealed, 'headers'>>,
  ): Promise<Endpoint | null> {
    if (!isTypeId('ep', id)) return null;
    return this.repositories.change(accountId, async (manager) => {
      const before = await lock(manager, accountId, id);
      if (before === null) return null;
      const changed = change(before);
      if (changed.url !== before.url) assertDistinct(changed.url, await otherUrls(manager, accountId, id));
      await manager.update(EndpointSchema, id, changed);
      const { headers: _headers, ...endpoint } = changed;
      return endpoint;
    });
  }

  async updateSealed(accountId: string, id: string, change: (sealed: Sealed) => Sealed): Promise<boolean> {
    if (!isTypeId('ep', id)) return false;
    return this.repositories.change(accountId, async (manager) => {
      if ((await lock(manager, accountId, id)) === null) return false;
      const [target] = await targets(manager, [id]);
      if (target === undefined) return false;
      const { secrets, headers } = change(target);
      await manager.update(EndpointSchema, id, { secrets: stored(secrets), headers });
      return true;
    });
  }

  async remove(accountId: string, id: string): Promise<boolean> {
    if (!isTypeId('ep', id)) return false;
    const { affected } = await this.repositories.change(accountId, (manager) =>
      manager.delete(EndpointSchema, { id, accountId }),
    );
    return affected === 1;
  }

  async keyIds(): Promise<string[]> {
    return (await this.database.query<{ keyId: string }>(KEY_IDS)).map(({ keyId }) => keyId);
  }

  sealedUnderOtherKeys(keyId: string): Promise<Pick<Endpoint, 'id' | 'accountId'>[]> {
    return this.database.query(SEALED_UNDER_OTHER_KEYS, [keyId]);
  }

  targets(ids: readonly string[]): Promise<Target[]> {
    return this.repositories.run((manager) => targets(manager, ids));
  }

  async withEnded(work: (ended: readonly EndedEndpoint[]) => Promise<void>): Promise<void> {
    // Mostly there is none: one statement instead of a transaction.
    if ((await this.database.query(IS_ANY_ENDED)).length === 0) return;
    await this.database.transaction(async (client) => {
      const { rows } = await client.query<EndedEndpoint>(ENDED);
      if (rows.length > 0) await work(rows);
    });
  }

  async forgetEnded({ id, version }: EndedEndpoint): Promise<void> {
    await this.database.query('DELETE FROM sluice.ended_endpoints WHERE id = $1 AND xmin::text = $2', [id, version]);
  }

  async takeRate(wanted: ReadonlyMap<string, number>): Promise<Map<string, RateGrant>> {
    const values = [[...wanted.keys()], [...wanted.values()]];
    const rows = await this.database.query<RateGrant & { readonly id: string }>(TAKE_RATE, values);
    return new Map(rows.map(({ id, ...grant }) => [id, grant]));
  }
}

function lock(manager: EntityManager, accountId: string, id: string): Promise<Endpoint | null> {
  return manager.findOne(EndpointSchema, { where: { id, accountId }, lock: { mode: 'for_no_key_update' } });
}

/** The URLs of the other endpoints of an account. Those of one account are read and written by one transaction at a time. */
async function otherUrls(manager: EntityManager, accountId: string, id: string): Promise<string[]> {
  await manager.query(`SELECT pg_advisory_xact_lock(hashtextextended('sluice.endpoints ' || $1, 0))`, [accountId]);
  const others = await manager.find(EndpointSchema, { select: { url: true }, where: { accountId, id: Not(id) } });
  return others.map(({ url }) => url);
}

async function maxEndpoints(manager: EntityManager, accountId: string): Promise<number> {
  const [plan] = await manager.query<{ max_endpoints: number | null }[]>(PLANNED, [accountId]);
  return plan?.max_endpoints ?? MAX_ENDPOINTS;
}

async function targets(manager: EntityManager, ids: readonly string[]): Promise<Target[]> {
  const query = manager
    .createQueryBuilder(EndpointSchema, 'endpoint')
    .addSelect(['endpoint.secrets', 'endpoint.headers', 'endpoint.version']);
  const rows = await query.where({ id: In([...ids]) }).getMany();
  return rows.map(({ secrets, headers, version, ...endpoint }) => ({
    ...{ endpoint, version, headers },
    secrets: secrets.map(({ sealed, expiresAt }) => ({
      sealed,
      expiresAt: expiresAt === null ? null : new Date(expiresAt),
    })),
  }));
}

function stored(secrets: readonly StoredSecret[]): StoredEndpoint['secrets'] {
  return secrets.map(({ sealed, expiresAt }) => ({ sealed, expiresAt: expiresAt?.toISOString() ?? null }));
}
