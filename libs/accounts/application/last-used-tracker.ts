import type { BackgroundTask } from '#kernel/background-task.js';
import type { Accounts } from './accounts.js';

/** Stores when keys were last used. */
export class LastUsedTracker implements BackgroundTask {
  readonly intervalMs = 2_000;
  private pending = new Map<string, Date>();

  constructor(private readonly accounts: Pick<Accounts, 'saveLastUses'>) {}

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

  run(): Promise<void> {
    return this.flush();
  }

  finish(): Promise<void> {
    return this.flush();
  }
}
