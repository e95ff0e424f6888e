import { LRUCache } from 'lru-cache';
import { atMost } from '#kernel/cache-size.js';
import { DomainError } from '#kernel/domain-error.js';
import type { BackgroundTask } from '#kernel/background-task.js';
import type { Message } from '../../domain/message.js';
import { bytesOf, DELIVERY_BYTES } from '../../domain/message-size.js';
import type { SpaceWatch } from './space-watch.js';
import type { AccountDay, PlannedStorage, StorageLedger, WrittenDay } from './storage-ledger.js';

const DAY_MS = 86_400_000;
/** Full accounts are checked again every four rounds, so a removal is noticed within 5 s. */
const RECHECK_ROUNDS = 4;
const ACCOUNTS_PER_QUERY = 1_000;
/** Accounts in memory; one that was evicted is checked again with its next message. */
const MAX_CACHED = 100_000;
const CACHED_MS = 3_600_000;
/** Days of accounts that wait while the store is unavailable; further ones are not counted. */
const MAX_PENDING = 100_000;

/** The settings, in MiB, of any account and of plans with less; 0 for no limit. */
export interface StorageLimits {
  readonly perAccount: number;
  readonly byPlan: ReadonlyMap<string, number>;
}

/** The bytes that an account may store; Infinity for no limit. They are counted nevertheless. */
export function capOf({ perAccount, byPlan }: StorageLimits, planned: PlannedStorage | null | undefined): number {
  const byDefault = Math.min(inBytes(perAccount), inBytes(byPlan.get(planned?.plan ?? '') ?? 0));
  return planned?.maxBytes ?? byDefault;
}

const inBytes = (mebibytes: number): number => (mebibytes === 0 ? Infinity : mebibytes * 1_048_576);

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
export class StorageCap implements BackgroundTask {
  readonly intervalMs = 1_000;
  private pending = new Map<string, AccountDay>();
  /** Accounts that have reached their cap, with its bytes. */
  private readonly full = new LRUCache<string, number>(atMost(MAX_CACHED));
  /** The bytes of other days than the present one. */
  private readonly others = new LRUCache<string, { readonly day: number; readonly bytes: number }>({
    ...atMost(MAX_CACHED),
    ttl: CACHED_MS,
  });
  private roundsRun = 0;

  constructor(
    private readonly ledger: StorageLedger,
    private readonly limits: StorageLimits,
    private readonly space: Pick<SpaceWatch, 'isFull' | 'refusal'>,
    private readonly observer: StorageObserver,
  ) {}

  /** Whether the account is below its cap, and the store has space. */
  hasRoom(accountId: string): boolean {
    return this.full.get(accountId) === undefined && !this.space.isFull;
  }

  /** @throws DomainError `storage_full`, or `unavailable` while the store has too little space */
  requireRoom(accountId: string): void {
    const cap = this.full.get(accountId);
    if (cap !== undefined) {
      this.observer.refused();
      const limit = cap % 1_048_576 === 0 ? `${cap / 1_048_576} MiB` : `${cap.toLocaleString('en')} bytes`;
      const detail = `The account has reached its limit of ${limit}. Older messages must be removed first.`;
      throw new DomainError('storage_full', detail);
    }
    if (this.space.isFull) throw this.space.refusal();
  }

  /**
   * Counts the stored messages of one request.
   * @param deliveries to endpoints that were stored with them
   */
  count(messages: readonly Message[], deliveries = 0): void {
    const [first] = messages;
    if (first === undefined) return;
    const { accountId, createdAt } = first.state;
    const day = Math.floor(createdAt.getTime() / DAY_MS);
    const bytes = bytesOf(messages) + deliveries * DELIVERY_BYTES;
    this.addPending({ accountId, day, bytes, messages: messages.length });
  }

  /**
   * Counts deliveries that were added to stored messages. They count on the present day: the bytes of other days are
   * assumed not to grow (`others`).
   */
  countDeliveries(accountId: string, count: number, at: Date): void {
    if (count === 0) return;
    const day = Math.floor(at.getTime() / DAY_MS);
    this.addPending({ accountId, day, bytes: count * DELIVERY_BYTES, messages: 0 });
  }

  /** Counts what was stored of an attempt, on the present day like other deliveries. */
  countAttempt(accountId: string, bytes: number, at: Date): void {
    if (bytes > 0) this.addPending({ accountId, day: Math.floor(at.getTime() / DAY_MS), bytes, messages: 0 });
  }

  async run(): Promise<void> {
    const isRecheck = ++this.roundsRun % RECHECK_ROUNDS === 0;
    try {
      const written = await this.write();
      const suspects = new Set(written.filter((day) => this.mayBeFull(day)).map(({ accountId }) => accountId));
      if (isRecheck) for (const accountId of this.full.keys()) suspects.add(accountId);
      await this.check([...suspects], new Map(written.map((day) => [day.accountId, day])));
    } catch (error) {
      this.observer.failed(error);
    }
  }

  /** Writes what is pending. */
  async finish(): Promise<void> {
    await this.write().catch((error: unknown) => {
      this.observer.failed(error);
    });
  }

  private addPending(more: AccountDay): void {
    const name = `${more.day}/${more.accountId}`;
    const sum = this.pending.get(name);
    if (sum === undefined && this.pending.size >= MAX_PENDING) return;
    const { bytes = 0, messages = 0 } = sum ?? {};
    this.pending.set(name, { ...more, bytes: bytes + more.bytes, messages: messages + more.messages });
  }

  /** @returns the new totals of the days written */
  private async write(): Promise<readonly WrittenDay[]> {
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

  private mayBeFull({ accountId, day, bytes, planned }: WrittenDay): boolean {
    if (this.full.has(accountId)) return false;
    const others = this.others.get(accountId);
    return others?.day !== day || others.bytes + bytes >= capOf(this.limits, planned);
  }

  private async check(accountIds: readonly string[], written: ReadonlyMap<string, WrittenDay>): Promise<void> {
    for (let from = 0; from < accountIds.length; from += ACCOUNTS_PER_QUERY) {
      const some = accountIds.slice(from, from + ACCOUNTS_PER_QUERY);
      const totals = await this.ledger.totals(some);
      for (const accountId of some) {
        const total = totals.get(accountId);
        const bytes = total?.bytes ?? 0;
        const cap = capOf(this.limits, total);
        if (bytes >= cap) this.full.set(accountId, cap);
        else this.full.delete(accountId);
        const day = written.get(accountId);
        if (day !== undefined) this.others.set(accountId, { day: day.day, bytes: bytes - day.bytes });
      }
    }
  }
}
