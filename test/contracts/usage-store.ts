import { CountUsage } from '#usage/application/count-usage.js';
import { PostgresUsageHistory } from '#usage/adapters/postgres/postgres-usage-history.js';
import { PostgresUsageLedger } from '#usage/adapters/postgres/postgres-usage-ledger.js';
import type { Message, MessageState } from '#messages/domain/message.js';
import { aMessage } from '../support/messages.js';
import { PostgresStore, type StoreProcess } from './postgres-store.js';

export const HOUR_MS = 3_600_000;
export const NEVER = new AbortController().signal;

/** The start of an hour: with 1 or more, one that is over. */
export const hourStart = (hoursAgo: number) => new Date(Math.floor(Date.now() / HOUR_MS - hoursAgo) * HOUR_MS);
export const within = (start: Date, ms: number) => new Date(start.getTime() + ms);

export const ALL = { by: 'hour', since: new Date(0), until: new Date('9000-01-01'), after: null, limit: 100 } as const;

/** A store whose messages are counted when a test says so. */
export class UsageStore {
  readonly ledger: PostgresUsageLedger;
  readonly history: PostgresUsageHistory;
  /** What counting has reported. */
  readonly faults: unknown[] = [];
  delays = 0;

  private constructor(
    readonly store: PostgresStore,
    readonly process: StoreProcess,
  ) {
    this.ledger = new PostgresUsageLedger(process.database);
    this.history = new PostgresUsageHistory(process.reads);
  }

  static async open(): Promise<UsageStore> {
    const store = await PostgresStore.open();
    return new UsageStore(store, await store.process());
  }

  sql: PostgresStore['sql'] = (...statement) => this.store.sql(...statement);

  counter(ledger = this.ledger): CountUsage {
    return new CountUsage(ledger, 400, {
      delayed: () => this.delays++,
      failed: (error) => this.faults.push(error),
    });
  }

  count(): Promise<boolean> {
    return this.counter().execute(NEVER);
  }

  /** Stores messages like a request does. */
  async send(accountId: string, at: Date, text = 'text', number = 1): Promise<Message[]> {
    const messages = Array.from({ length: number }, () => aMessage({ accountId, text, createdAt: at, updatedAt: at }));
    await this.process.messages.add(messages, null);
    return messages;
  }

  usage(accountId: string, by: 'hour' | 'day' = 'hour') {
    return this.history.of(accountId, { ...ALL, by });
  }

  /** The starts of hours, and how many messages were accepted in each. */
  async accepted(accountId: string): Promise<[number, number][] | null> {
    return (await this.usage(accountId))?.map(({ start, accepted }) => [start.getTime(), accepted]) ?? null;
  }

  async move(messages: readonly Message[], status: MessageState['status']): Promise<void> {
    const ids = messages.map(({ id }) => id);
    await this.sql(`UPDATE sluice.messages SET status = $2 WHERE id = ANY ($1)`, [ids, status]);
  }

  /** Looks how messages have ended, as if the time had come. */
  async lookAgain(): Promise<void> {
    await this.sql('UPDATE sluice.usage SET recount_at = now() WHERE recount_at IS NOT NULL');
    await this.count();
  }

  late() {
    return this.sql('SELECT message_id FROM sluice.usage_late');
  }

  close(): Promise<void> {
    return this.store.close();
  }
}
