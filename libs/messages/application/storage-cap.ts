import { LRUCache } from 'lru-cache';
import { DomainError } from '#kernel/domain-error.js';
import { bytesOf, type Message } from '../domain/message.js';
import { PeriodicTask } from '#kernel/periodic-task.js';
import type { AccountDay, StorageLedger } from './storage-ledger.js';

const DAY_MS = 86_400_000;
const FLUSH_EVERY_MS = 1_000;
/** In every so many rounds the accounts that are full are looked at again: a removal is noticed within 5 s. */
const RECHECK_ROUNDS = 4;
const LOOKED_AT_ONCE = 1_000;
/** Accounts that are remembered. The least recent is forgotten first, and found out anew with its next message. */
const MAX_REMEMBERED = 100_000;
const REMEMBERED_MS = 3_600_000;
/** Days of accounts that wait while the store takes none. What comes on top is not counted. */
const MAX_PENDING = 100_000;

/** Looks on, for whoever runs the process. */
export interface StorageObserver {
  /** A request was refused. */
  refused(): void;
  /** The store could not be told or asked; it is tried again with the next round. */
  failed(error: unknown): void;
}

/**
 * Holds accounts to what they may store. Requests pay one look into memory: what was accepted is added up here and
 * written once a second, and an account that turns out to be over the cap then is refused from then on. So it may
 * be exceeded by what comes in about a second, through each process. What was not yet written when a process dies is
 * never counted; what was written to a store whose answer was lost is counted twice.
 */
export class StorageCap {
  private pending = new Map<string, { -readonly [Field in keyof AccountDay]: AccountDay[Field] }>();
  private readonly full = new LRUCache<string, true>({ max: MAX_REMEMBERED });
  /** What an account has stored on all days but one: only that one grows, so that no other needs to be read again. */
  private readonly otherDays = new LRUCache<string, { readonly day: number; readonly bytes: number }>({
    max: MAX_REMEMBERED,
    ttl: REMEMBERED_MS,
  });
  private readonly rounds = new PeriodicTask(() => this.round());
  private roundsRun = 0;

  /** @param capBytes 0 for none: what is stored is counted all the same */
  constructor(
    private readonly ledger: StorageLedger,
    private readonly capBytes: number,
    private readonly observer: StorageObserver,
  ) {}

  start(): void {
    this.rounds.start(FLUSH_EVERY_MS);
  }

  /** @throws DomainError `storage_full` when the account has stored as much as it may */
  admit(accountId: string): void {
    if (this.full.get(accountId) === undefined) return;
    this.observer.refused();
    throw new DomainError(
      'storage_full',
      `The account stores ${this.capBytes / 1_048_576} MiB, which is all it may. Older messages must be removed first.`,
    );
  }

  /** Counts messages of one request, once they are stored. */
  count(messages: readonly Message[]): void {
    const [first] = messages;
    if (first === undefined) return;
    const { accountId, createdAt } = first.state;
    const day = Math.floor(createdAt.getTime() / DAY_MS);
    this.keep({ accountId, day, bytes: bytesOf(messages), messages: messages.length });
  }

  /** One round, as it comes once a second. */
  async round(): Promise<void> {
    const isRecheck = ++this.roundsRun % RECHECK_ROUNDS === 0;
    try {
      const written = await this.write();
      if (this.capBytes === 0) return;
      const suspects = new Set(written.filter((day) => this.mayBeFull(day)).map(({ accountId }) => accountId));
      if (isRecheck) for (const accountId of this.full.keys()) suspects.add(accountId);
      await this.look([...suspects], new Map(written.map((day) => [day.accountId, day])));
    } catch (error) {
      this.observer.failed(error);
    }
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    await this.rounds.close();
    await this.write().catch((error: unknown) => {
      this.observer.failed(error);
    });
  }

  private keep(more: AccountDay): void {
    const name = `${more.day}/${more.accountId}`;
    const sum = this.pending.get(name);
    if (sum !== undefined) {
      sum.bytes += more.bytes;
      sum.messages += more.messages;
    } else if (this.pending.size < MAX_PENDING) this.pending.set(name, { ...more });
  }

  /** @returns what the store now has of the days that were written */
  private async write(): ReturnType<StorageLedger['add']> {
    const days = [...this.pending.values()];
    if (days.length === 0) return [];
    this.pending = new Map();
    try {
      return await this.ledger.add(days);
    } catch (error) {
      for (const day of days) this.keep(day);
      throw error;
    }
  }

  private mayBeFull({ accountId, day, bytes }: Omit<AccountDay, 'messages'>): boolean {
    if (this.full.has(accountId)) return false;
    const others = this.otherDays.get(accountId);
    return others?.day !== day || others.bytes + bytes >= this.capBytes;
  }

  private async look(
    accountIds: readonly string[],
    written: ReadonlyMap<string, Omit<AccountDay, 'messages'>>,
  ): Promise<void> {
    for (let from = 0; from < accountIds.length; from += LOOKED_AT_ONCE) {
      const some = accountIds.slice(from, from + LOOKED_AT_ONCE);
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
