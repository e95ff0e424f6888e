import { PeriodicTask } from '#kernel/periodic-task.js';
import type { Accounts } from './accounts.js';

const FLUSH_INTERVAL_MS = 2_000;
const MINUTE_MS = 60_000;
/** Keys whose last minute is remembered. A key that was dropped is merely written more than once a minute. */
const MAX_RECORDED = 100_000;

/** Records when keys were last used, to the minute: one write a minute and key, however many requests it sends. */
export class LastUsedTracker {
  private pending = new Map<string, Date>();
  private readonly recorded = new Map<string, number>();
  private readonly flushing = new PeriodicTask(() => this.flush());

  constructor(private readonly accounts: Pick<Accounts, 'saveLastUses'>) {}

  start(): void {
    this.flushing.start(FLUSH_INTERVAL_MS);
  }

  record(keyId: string, at: Date): void {
    const minute = Math.floor(at.getTime() / MINUTE_MS);
    if (this.recorded.get(keyId) === minute) return;
    if (this.recorded.size >= MAX_RECORDED) this.recorded.clear();
    this.recorded.set(keyId, minute);
    this.pending.set(keyId, new Date(minute * MINUTE_MS));
  }

  /** Writes what is pending. What cannot be written is dropped; the key is recorded again in another minute. */
  async flush(): Promise<void> {
    if (this.pending.size === 0) return;
    const uses = this.pending;
    this.pending = new Map();
    await this.accounts.saveLastUses(uses).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.flushing.close();
    await this.flush();
  }
}
