import pg from 'pg';
import { Database } from '#platform/database/database.js';
import { PostgresLimiter } from '#rate-limiting/adapters/postgres/postgres-limiter.js';
import type { BanPolicy } from '#rate-limiting/domain/ban-policy.js';
import type { Limits } from '#kernel/limits.js';
import type { Hit } from '#rate-limiting/application/limiter.js';
import { createTestDatabase, type TestDatabase } from './database.js';

export const POLICY: BanPolicy = { graceMs: 0, afterRefusals: 30, banMs: 60_000, maxBanMs: 3_600_000 };

/** Accounts in a database of their own, and the limiters of several processes on it. */
export class LimiterFixture {
  private readonly closing: (() => Promise<void>)[] = [];
  private accounts = 0;

  private constructor(
    private readonly database: TestDatabase,
    private readonly client: pg.Client,
  ) {}

  static async open(): Promise<LimiterFixture> {
    const database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    return new LimiterFixture(database, client);
  }

  /** Connections of a further process. */
  async connect(): Promise<Database> {
    const database = await Database.connect({
      ...{ url: this.database.url, poolSize: 3, applicationName: 'contract', asynchronousCommit: true },
      onError: () => undefined,
    });
    this.closing.push(() => database.close());
    return database;
  }

  /** The storage of a further process, which has cached nothing. */
  async process(policy: Partial<BanPolicy> = {}): Promise<PostgresLimiter> {
    const storage = new PostgresLimiter(await this.connect(), { ...POLICY, ...policy });
    this.closing.push(() => storage.close());
    return storage;
  }

  /** An account that has used nothing, as a single hit of one of its keys. */
  async account(perMinute: number, perDay = perMinute): Promise<Hit> {
    const number = ++this.accounts;
    const accountId = `acct_${number}`;
    await this.sql(
      `INSERT INTO sluice.accounts (id, name, plan, per_minute, per_day, created_at)
       VALUES ($1, 'contract', 'enterprise', $2, $3, now())`,
      [accountId, perMinute, perDay],
    );
    return { accountId, keyId: `key_${number}`, epoch: 0, count: 1 };
  }

  /** Changes an account, or its limits; a trigger increments the epoch when limits change. */
  async change({ accountId }: Pick<Hit, 'accountId'>, limits?: Limits): Promise<void> {
    const [set, values] = limits
      ? ['per_minute = $2, per_day = $3', [limits.perMinute, limits.perDay]]
      : ['epoch = epoch + 1', []];
    await this.sql(`UPDATE sluice.accounts SET ${set} WHERE id = $1`, [accountId, ...values]);
  }

  async used({ accountId }: Hit): Promise<unknown> {
    const text = 'SELECT minute_used AS minute, day_used AS day FROM sluice.rate_limits WHERE account_id = $1';
    return (await this.sql(text, [accountId]))[0] ?? { minute: 0, day: 0 };
  }

  /** Moves the windows and bans of an account into the past. */
  async pass({ accountId }: Hit, ms: number): Promise<void> {
    await this.sql(
      `UPDATE sluice.rate_limits SET minute_ends_ms = minute_ends_ms - $2, day_ends_ms = day_ends_ms - $2
       WHERE account_id = $1`,
      [accountId, ms],
    );
    await this.sql(
      `UPDATE sluice.offences SET banned_at_ms = banned_at_ms - $2, banned_until_ms = banned_until_ms - $2
       WHERE account_id = $1`,
      [accountId, ms],
    );
  }

  async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.client.query<Row>(text, values)).rows;
  }

  async close(): Promise<void> {
    for (const close of this.closing.reverse()) await close();
    await this.client.end();
    await this.database.drop();
  }
}
