import { ALWAYS_ACTIVE } from '#kernel/activity.js';
import { PeriodicTask } from '#kernel/periodic-task.js';
import type { CurrentQueue, JobQueue, StrayMessages } from '#delivery/index.js';
import type { Reconciliation } from './reconciliation.js';

/** How often the current queue is looked up while the installation is quiet and its queue has the same contents. */
const QUIET_CHECK_EVERY_MS = 45_000;

export interface QueueRecoveryObserver {
  /** Another queue is the current one, or this one is again. */
  currentQueueChanged(isOurs: boolean): void;
  /** The queue has other contents than before: all open messages are checked, from the oldest on. */
  recovering(): void;
  recovered(): void;
  recoveryFailed(error: unknown): void;
}

/** Puts open messages on their way again as soon as the queue has lost its jobs or has been replaced by another one. */
export class QueueRecovery {
  /** The contents that were found by the check before. */
  private found: string | null = null;
  private walking: string | null = null;
  /** The contents with which a walk has compared the messages. */
  private checked: string | null = null;
  private checkedAt = -Infinity;
  private closed = false;
  private readonly checks = new PeriodicTask(() =>
    this.check().catch((error: unknown) => {
      this.observer.recoveryFailed(error);
    }),
  );

  /** @param step requeues strays among the next open messages */
  constructor(
    private readonly queue: Pick<JobQueue, 'identity' | 'takeOver'>,
    private readonly messages: Pick<StrayMessages, 'requeueJobs'>,
    private readonly currentQueue: CurrentQueue,
    private readonly reconciliation: Reconciliation,
    private readonly step: () => Promise<unknown>,
    private readonly observer: QueueRecoveryObserver,
    private readonly activity = ALWAYS_ACTIVE,
  ) {}

  start(everyMs: number): void {
    this.checks.start(everyMs);
    this.activity.onWake(() => {
      this.checkedAt = -Infinity;
      this.checks.trigger();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.checks.close();
  }

  /** One step, which takes about a second at most. Several processes may try: one at a time does it. */
  async check(): Promise<void> {
    const identity = this.queue.identity();
    const { dataSet, contents: now } = await identity.catch(() => ({ dataSet: null, contents: null }));
    const isRecent = performance.now() - this.checkedAt < QUIET_CHECK_EVERY_MS;
    if (this.activity.isQuiet && isRecent && now !== null && now === this.checked) return;
    this.checkedAt = performance.now();
    if (!(await this.checkCurrent(dataSet))) return;
    const { contents } = await identity;
    // Waits for the second check: a message whose outbox entry is not removed yet is no stray, and the walk would skip it.
    const isNew = contents !== this.found;
    this.found = contents;
    if (isNew) return;
    while (!this.closed && (await this.queue.takeOver((jobIds) => this.messages.requeueJobs(jobIds)))) {
      // Otherwise, once the other queue is the current one again, this would go on for as long as jobs are added there.
      if (!(await this.checkCurrent(dataSet))) return;
    }
    if (contents === this.checked) return;
    if ((await this.reconciliation.contents()) === contents) this.checked = contents;
    else await this.reconciliation.take(0, () => this.recover(contents));
  }

  private async checkCurrent(dataSet: string | null): Promise<boolean> {
    const { isCurrent } = this.currentQueue;
    await this.currentQueue.check(dataSet);
    if (this.currentQueue.isCurrent === isCurrent) return isCurrent;
    this.observer.currentQueueChanged(!isCurrent);
    // Jobs may have been added to the other queue: a walk from before proves nothing.
    this.checked = null;
    this.walking = null;
    return !isCurrent;
  }

  private async recover(contents: string): Promise<void> {
    if (this.walking !== contents) {
      this.activity.note();
      this.observer.recovering();
      await this.reconciliation.restart();
      this.walking = contents;
    }
    await this.step();
    if (!(await this.reconciliation.hasPassed())) return;
    await this.reconciliation.setContents(contents);
    this.walking = null;
    this.observer.recovered();
  }
}
