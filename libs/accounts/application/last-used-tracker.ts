import { PeriodicTask } from '#kernel/periodic-task.js';
import type { Accounts } from './accounts.js';

const FLUSH_INTERVAL_MS = 2_000;

/** Stores when keys were last used. */
export class LastUsedTracker {
  private pending = new Map<string, Date>();
  private readonly flushing = new PeriodicTask(() => this.flush());

  constructor(private readonly accounts: Pick<Accounts, 'saveLastUses'>) {}

  start(): void {
    this.flushing.start(FLUSH_INTERVAL_MS);
  }

  record(keyId: string, at: Date): void {
    this.pending.set(keyId, at);
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
