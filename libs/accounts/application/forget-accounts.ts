import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BackgroundTask } from '#kernel/background-task.js';
import type { ForgetsAccounts } from '#kernel/forgets-accounts.js';
import type { DeletionObserver } from './delete-account.js';
import type { Deletions } from './deletions.js';

/** How often a process looks for accounts to delete while the installation is quiet. */
const QUIET_INTERVAL_MS = 60_000;
/** The same for some minutes after it has found one, which may need another pass. */
const BUSY_INTERVAL_MS = 3_000;
const BUSY_FOR_MS = 300_000;
/** And when it has started: a process that was killed before may keep one for 15 seconds. */
const BUSY_AT_START_MS = 30_000;

/** After its steps, a round pauses for as long as they took: the database has other work. In milliseconds. */
const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 2_000;

/**
 * Removes what is stored of deleted accounts, in one process at a time. Each round makes one step for each of them, so that
 * a large account does not hold up the others.
 */
export class ForgetAccounts implements BackgroundTask {
  readonly intervalMs = 1_000;
  private readonly worker = randomUUID();
  private readonly passes = new Map<string, AsyncGenerator<void, boolean>>();

  /** Until when it looks often, as `performance.now()`. */
  private busyUntil = performance.now() + BUSY_AT_START_MS;

  /** @param parts what is removed, in this order */
  constructor(
    private readonly deletions: Deletions,
    private readonly parts: readonly ForgetsAccounts[],
    private readonly observer: Omit<DeletionObserver, 'requested'>,
  ) {}

  get quietIntervalMs(): number {
    return performance.now() < this.busyUntil ? BUSY_INTERVAL_MS : QUIET_INTERVAL_MS;
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        const startedAt = performance.now();
        const accounts = await this.deletions.take(this.worker);
        for (const accountId of this.passes.keys()) if (!accounts.includes(accountId)) this.passes.delete(accountId);
        if (accounts.length === 0) return;
        this.busyUntil = startedAt + BUSY_FOR_MS;
        for (const accountId of accounts) await this.step(accountId);
        const tookMs = performance.now() - startedAt;
        await sleep(Math.min(Math.max(tookMs, MIN_PAUSE_MS), MAX_PAUSE_MS));
      }
    } catch (error) {
      // The next run begins anew with what is left.
      this.passes.clear();
      this.observer.failed(error);
    }
  }

  async finish(): Promise<void> {
    await this.deletions.release(this.worker).catch((error: unknown) => {
      this.observer.failed(error);
    });
  }

  private async step(accountId: string): Promise<void> {
    const pass = this.passes.get(accountId) ?? this.pass(accountId);
    this.passes.set(accountId, pass);
    const { done = false, value: isComplete } = await pass.next();
    if (!done) return;
    this.passes.delete(accountId);
    if (await this.deletions.passed(accountId, isComplete === true)) this.observer.finished(accountId);
  }

  private async *pass(accountId: string): AsyncGenerator<void, boolean> {
    let isComplete = true;
    for (const part of this.parts) isComplete = (yield* part.forget(accountId)) && isComplete;
    return isComplete;
  }
}
