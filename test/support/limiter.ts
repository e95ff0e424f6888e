import pg from 'pg';
import { Database } from '#platform/database/database.js';
import { PostgresPlanThrottlerStorage } from '#rate-limiting/adapters/postgres/postgres-plan-throttler-storage.js';
import type { Hit } from '#rate-limiting/plan-throttler-storage.js';
import { createTestDatabase, type TestDatabase } from './database.js';

const POLICY = { graceMs: 0, afterRefusals: 30, banMs: 60_000, maxBanMs: 3_600_000 };

/** Accounts in a database of their own, and what processes have of the limiter on it. */
export class Limiter {
  private readonly closing: (() => Promise<void>)[] = [];
  private accounts = 0;

  private constructor(
    private readonly database: TestDatabase,
    readonly client: pg.Client,
  ) {}

  static async open(): Promise<Limiter> {
    const database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    return new Limiter(database, client);
  }

  /** The storage of a further process, which remembers nothing yet. */
  async process(policy: Partial<typeof POLICY> = {}): Promise<PostgresPlanThrottlerStorage> {
    const database = await Database.connect({
      ...{ url: this.database.url, poolSize: 3, applicationName: 'contract', asynchronousCommit: true },
      onError: () => undefined,
    });
    const storage = new PostgresPlanThrottlerStorage(database, { ...POLICY, ...policy });
    this.closing.push(async () => {
      await storage.close();
      await database.close();
    });
    return storage;
  }

  /** An account that has used nothing, as a single hit of a key of its. */
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

  async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.client.query<Row>(text, values)).rows;
  }

  async used({ accountId }: Hit): Promise<unknown> {
    const text = 'SELECT minute_used AS minute, day_used AS day FROM sluice.rate_limits WHERE account_id = $1';
    return (await this.sql(text, [accountId]))[0];
  }

  async close(): Promise<void> {
    await Promise.all(this.closing.map((close) => close()));
    await this.client.end();
    await this.database.drop();
  }
}
