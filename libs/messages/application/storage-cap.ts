import { LRUCache } from 'lru-cache';
import { DomainError } from '#kernel/domain-error.js';
import { PeriodicTask } from '#kernel/periodic-task.js';
import { bytesOf, type Message } from '../domain/message.js';
import type { AccountDay, StorageLedger } from './storage-ledger.js';

const DAY_MS = 86_400_000;
const FLUSH_EVERY_MS = 1_000;
/** Full accounts are checked again every four rounds, so a removal is noticed within 5 s. */
const RECHECK_ROUNDS = 4;
const ACCOUNTS_PER_QUERY = 1_000;
/** Accounts in memory; one that was evicted is checked again with its next message. */
const MAX_CACHED = 100_000;
const CACHED_MS = 3_600_000;
/** Days of accounts that wait while the store is unavailable; further ones are not counted. */
const MAX_PENDING = 100_000;

export interface StorageObserver {
  /** A request was refused. */
  refused(): void;
  /** The store could not be read or written; the next round tries again. */
  failed(error: unknown): void;
}

/**
 * Limits what accounts store. A request costs one lookup in memory: accepted messages are counted here and written once
 * a second, and an account that has then reached the cap is refused. So each process may exceed the cap by the messages
 * of about a second. Unwritten counts are lost when a process dies; counts whose write got no response may be added
 * twice.
 */
export class StorageCap {
  private pending = new Map<string, { -readonly [Field in keyof AccountDay]: AccountDay[Field] }>();
  private readonly full = new LRUCache<string, true>({ max: MAX_CACHED });
  /** The total of an account's days except the current one, which is the only one that grows. */
  private readonly otherDays = new LRUCache<string, { readonly day: number; readonly bytes: number }>({
    max: MAX_CACHED,
    ttl: CACHED_MS,
  });
  private readonly rounds = new PeriodicTask(() => this.round());
  private roundsRun = 0;

  /** @param capBytes 0 for no limit; the bytes are counted nevertheless */
  constructor(
    private readonly ledger: StorageLedger,
    private readonly capBytes: number,
    private readonly observer: StorageObserver,
  ) {}

  start(): void {
    this.rounds.start(FLUSH_EVERY_MS);
  }

  /** @throws DomainError `storage_full` when the account has reached the cap */
  admit(accountId: string): void {
    if (this.full.get(accountId) === undefined) return;
    this.observer.refused();
    throw new DomainError(
      'storage_full',
      `The account has reached its limit of ${this.capBytes / 1_048_576} MiB. Older messages must be removed first.`,
    );
  }

  /** Counts the stored messages of one request. */
  count(messages: readonly Message[]): void {
    const [first] = messages;
    if (first === undefined) return;
    const { accountId, createdAt } = first.state;
    const day = Math.floor(createdAt.getTime() / DAY_MS);
    this.addPending({ accountId, day, bytes: bytesOf(messages), messages: messages.length });
  }

  /** Runs once a second. */
  async round(): Promise<void> {
    const isRecheck = ++this.roundsRun % RECHECK_ROUNDS === 0;
    try {
      const written = await this.write();
      if (this.capBytes === 0) return;
      const suspects = new Set(written.filter((day) => this.mayBeFull(day)).map(({ accountId }) => accountId));
      if (isRecheck) for (const accountId of this.full.keys()) suspects.add(accountId);
      await this.check([...suspects], new Map(written.map((day) => [day.accountId, day])));
    } catch (error) {
      this.observer.failed(error);
    }
  }

  /** Writes what is pending. */
  async close(): Promise<void> {
    await this.rounds.close();
    await this.write().catch((error: unknown) => {
      this.observer.failed(error);
    });
  }

  private addPending(more: AccountDay): void {
    const name = `${more.day}/${more.accountId}`;
    const sum = this.pending.get(name);
    if (sum !== undefined) {
      sum.bytes += more.bytes;
      sum.messages += more.messages;
    } else if (this.pending.size < MAX_PENDING) this.pending.set(name, { ...more });
  }

  /** @returns the new totals of the days written */
  private async write(): ReturnType<StorageLedger['add']> {
    const days = [...this.pending.values()];
    if (days.length === 0) return [];
    this.pending = new Map();
    try {
      return await this.ledger.add(days);
    } catch (error) {
      for (const day of days) this.addPending(day);
      throw error;
    }
  }

  private mayBeFull({ accountId, day, bytes }: Omit<AccountDay, 'messages'>): boolean {
    if (this.full.has(accountId)) return false;
    const others = this.otherDays.get(accountId);
    return others?.day !== day || others.bytes + bytes >= this.capBytes;
  }

  private async check(
    accountIds: readonly string[],
    written: ReadonlyMap<string, Omit<AccountDay, 'messages'>>,
  ): Promise<void> {
    for (let from = 0; from < accountIds.length; from += ACCOUNTS_PER_QUERY) {
      const some = accountIds.slice(from, from + ACCOUNTS_PER_QUERY);
      const totals = await this.ledger.totals(some);
      for (const accountId of some) {
        const total = totals.get(accountId) ?? 0;
        if (total >= this.capBytes) this.full.set(accountId, true);
        else this.full.delete(accountId);
        const day = written.get(accountId);
        if (day !== undefined) this.otherDays.set(accountId, { day: day.day, bytes: total - day.bytes });
      }
    }
  }
}
