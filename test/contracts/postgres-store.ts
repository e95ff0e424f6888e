import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Pool, type QueryResultRow } from 'pg';
import { toMessage, type MessageRow } from '#messages/adapters/postgres/message-row.js';
import { PostgresDeliveries } from '#messages/adapters/postgres/claims/postgres-deliveries.js';
import { Releases } from '#messages/adapters/postgres/order/releases.js';
import { PostgresMessages } from '#messages/adapters/postgres/postgres-messages.js';
import { PostgresOutbox } from '#delivery/adapters/postgres/postgres-outbox.js';
import type { Message } from '#messages/domain/message.js';
import type { JobQueue } from '#delivery/application/job-queue.js';
import { OutboxRelay, type RelayFault } from '#delivery/application/outbox-relay.js';
import { Database } from '#platform/database/database.js';
import { Reads } from '#platform/database/reads.js';
import { sqlState } from '#platform/database/errors.js';
import { UuidV7Ids } from '#kernel/ids.js';
import { SENT_AT } from '../support/messages.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { InMemoryJobQueue } from './fakes/in-memory-job-queue.js';
import { observing } from './fakes/relay-observer.js';

const TABLES = [
  ...['sluice.messages', 'sluice.attempts', 'sluice.outbox', 'sluice.idempotency_keys', 'sluice.storage'],
  'sluice.ordered_deliveries',
  'bullmq.job',
];

/** A database of its own, with as many processes on it as a test wants. */
export class PostgresStore {
  private readonly opened: (() => Promise<unknown>)[] = [];
  private transactions: Client[] = [];

  private constructor(
    private readonly database: TestDatabase,
    private readonly pool: Pool,
  ) {}

  static async open(): Promise<PostgresStore> {
    const database = await createTestDatabase();
    // The test server's default would make statements fail that wait for one of Sluice's.
    const options = '-c default_transaction_isolation=read\\ committed';
    const pool = new Pool({ connectionString: database.url, max: 4, options });
    pool.on('error', ignore);
    return new PostgresStore(database, pool);
  }

  get url(): string {
    return this.database.url;
  }

  /**
   * What one process of Sluice has of the store, with nothing running in the background.
   * @param queue where its relay adds jobs; by default one that is away, so that entries stay in the outbox
   */
  async process(queue: JobQueue = queueThatIsAway()) {
    const options = { url: this.url, poolSize: 10, applicationName: 'contract', onError: ignore };
    const database = await Database.connect(options);
    const reading = await Database.connect({ ...options, inIndexOrder: true });
    const reads = new Reads(reading, { perCaller: 2, maxWaitMs: 60_000 });
    /** The SQLSTATE of each statement that failed. */
    const faults: string[] = [];
    const prepared = database.prepared.bind(database);
    jest.spyOn(database, 'prepared').mockImplementation((...statement) =>
      prepared(...statement).catch((error: unknown) => {
        faults.push(sqlState(error));
        throw error;
      }),
    );
    const outbox = new PostgresOutbox(database);
    const reports: RelayFault[] = [];
    const relay = new OutboxRelay(outbox, queue, observing(reports));
    const announced: string[] = [];
    const availability = { announce: (available: Iterable<string>) => void announced.push(...available) };
    const releases = new Releases(database, relay, availability);
    const messages = new PostgresMessages(database, reads, relay, availability, releases);
    this.opened.unshift(async () => {
      await messages.idle();
      await relay.close();
      await Promise.all([database.close(), reading.close()]);
    });
    return {
      database,
      reads,
      reading,
      messages,
      announced,
      availability,
      releases,
      deliveries: new PostgresDeliveries(database, releases),
      outbox,
      relay,
      faults,
      reports,
    };
  }

  async sql<Row extends QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.pool.query<Row>(text, values)).rows;
  }

  /** Stores a message as it is, and nothing with it. */
  async put({ state }: Message): Promise<void> {
    const { claim } = state;
    await this.sql(
      `INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at, attempts, failures, crashes,
         lone_crashes, retries, failure_reason, claim, claim_expires_at, claim_alone, traceparent, deliver_at,
         delivery, next_attempt_at, type, metadata, ordering_key, available_at)
       VALUES ($1, $2, $3, $4::text, $5::timestamptz, $6, $7, $8, $9, $10, $11, $12, $13, $14::timestamptz, $15, $16, $17::timestamptz, $18::text, $19::timestamptz, $20, $21, $22,
         CASE WHEN $18 = 'pull' AND $4 IN ('queued', 'processing')
              THEN coalesce($14::timestamptz, $17::timestamptz, $5::timestamptz) END)`,
      [
        ...[state.id, state.accountId, state.text, state.status, state.createdAt, state.updatedAt, state.attempts],
        ...[state.failures, state.crashes, state.loneCrashes, state.retries, state.failureReason],
        ...[claim?.token, claim?.expiresAt, claim?.alone ?? false, state.traceparent],
        ...[state.deliverAt, state.delivery, state.nextAttemptAt],
        ...[state.type, state.metadata, state.orderingKey],
      ],
    );
  }

  /** Adds an enabled endpoint to an account, which it creates if need be. @returns its id */
  async addEndpoint(accountId: string): Promise<string> {
    const id = new UuidV7Ids().next('ep', SENT_AT);
    await this.sql(
      `INSERT INTO sluice.accounts (id, name, plan, per_minute, per_day, created_at)
       VALUES ($1, 'Acme', 'free', 60, 1000, now()) ON CONFLICT DO NOTHING`,
      [accountId],
    );
    await this.sql(
      `INSERT INTO sluice.endpoints (id, account_id, url, description, rate_limit_per_second, enabled, created_at, secrets)
       VALUES ($1, $2, 'https://example.com', '', 0, true, now(), '[]')`,
      [id, accountId],
    );
    return id;
  }

  async find({ id }: Message): Promise<Message | null> {
    const [row] = await this.sql<MessageRow>('SELECT * FROM sluice.messages WHERE id = $1', [id]);
    return row === undefined ? null : toMessage(row);
  }

  /** Stores messages with one outbox entry; resolves to its id. */
  async commit(...messages: Message[]): Promise<string> {
    for (const message of messages) await this.put(message);
    const [entry] = await this.sql<{ id: string }>(
      `INSERT INTO sluice.outbox (message_ids, bytes)
       SELECT array_agg(id), sum(octet_length(text) + 256) FROM sluice.messages WHERE id = ANY ($1) RETURNING id`,
      [messages.map(({ id }) => id)],
    );
    return entry?.id ?? '';
  }

  /** The outbox, oldest first. */
  entries(): Promise<{ id: string; message_ids: string[] }[]> {
    return this.sql('SELECT id, message_ids FROM sluice.outbox ORDER BY id');
  }

  /** Empties it, as a new one would be. */
  async reset(): Promise<void> {
    for (const client of this.transactions.splice(0)) await client.end();
    await this.relent();
    // A hundred times faster than TRUNCATE, which creates the files of all these tables anew.
    await this.sql(TABLES.map((table) => `DELETE FROM ${table}`).join(';'));
  }

  async relent(): Promise<void> {
    await this.sql('DROP FUNCTION IF EXISTS refuse CASCADE');
  }

  /** A transaction that stays open. */
  async transaction(text: string, values: unknown[] = []): Promise<Client> {
    const client = new Client({ connectionString: this.url });
    client.on('error', ignore);
    await client.connect();
    this.transactions.push(client);
    await client.query('BEGIN');
    await client.query(text, values);
    return client;
  }

  /** Resolves when a statement of another connection waits for a lock. */
  somebodyWaits(): Promise<void> {
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return this.until(async () => (await this.sql(waiting)).length > 0);
  }

  async until(condition: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = performance.now() + 60_000;
    while (!(await condition())) {
      if (performance.now() > deadline) throw new Error('The condition did not hold within a minute.');
      await sleep(5);
    }
  }

  async close(): Promise<void> {
    await this.reset();
    for (const close of this.opened) await close();
    await this.pool.end();
    await this.database.drop();
  }
}

export type StoreProcess = Awaited<ReturnType<PostgresStore['process']>>;

function queueThatIsAway(): JobQueue {
  const queue = new InMemoryJobQueue();
  queue.away = true;
  return queue;
}

function ignore(): void {
  // These suites do not check what the parts report.
}
