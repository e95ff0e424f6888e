import type { BackgroundTask } from '#kernel/background-task.js';
import type { Accounts } from './accounts.js';

/** Uses are recorded to the minute, since each record is a write. */
const MINUTE_MS = 60_000;

/** Stores when keys were last used. */
export class LastUsedTracker implements BackgroundTask {
  readonly intervalMs = 2_000;
  private pending = new Map<string, Date>();

  constructor(private readonly accounts: Pick<Accounts, 'saveLastUses'>) {}

  /**
   * Records a use, unless another one in the same minute was recorded.
   * @param before the minute of the use before, as this returned it
   * @returns the minute of this one, since 1970
   */
  record(keyId: string, at: Date, before?: number): number {
    const minute = Math.floor(at.getTime() / MINUTE_MS);
    if (minute !== before) this.pending.set(keyId, new Date(minute * MINUTE_MS));
    return minute;
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
