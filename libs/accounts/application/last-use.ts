import type { Accounts } from './accounts.js';

const FLUSH_EVERY_MS = 2_000;
const MINUTE_MS = 60_000;
/** Keys remembered as written; more than one write a minute for a key that fell out does no harm. */
const MAX_WRITTEN = 100_000;

/** Notes when keys were last used, to the minute, with one write a minute and key however many requests it sends. */
export class LastUse {
  private pending = new Map<string, Date>();
  private readonly written = new Map<string, number>();
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly accounts: Accounts) {}

  start(): void {
    this.timer ??= setInterval(() => void this.flush(), FLUSH_EVERY_MS);
  }

  note(keyId: string, at: Date): void {
    const minute = Math.floor(at.getTime() / MINUTE_MS);
    if (this.written.get(keyId) === minute) return;
    if (this.written.size >= MAX_WRITTEN) this.written.clear();
    this.written.set(keyId, minute);
    this.pending.set(keyId, new Date(minute * MINUTE_MS));
  }

  /** Writes what is pending. What can't be written is noted again with the key's next use in another minute. */
  async flush(): Promise<void> {
    if (this.pending.size === 0) return;
    const uses = this.pending;
    this.pending = new Map();
    await this.accounts.saveLastUses(uses).catch(() => undefined);
  }

  async close(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    await this.flush();
  }
}
