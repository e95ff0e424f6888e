import { ALWAYS_ACTIVE } from '#kernel/activity.js';
import { DomainError } from '#kernel/domain-error.js';
import { PeriodicTask } from '#kernel/periodic-task.js';
import { BATCH_BYTES, bytesOf, JobDispatch, type Message, type OutboxEntry } from '#messages/index.js';
import type { JobQueue } from './job-queue.js';
import type { Outbox } from './outbox.js';

/** What can fail. The outbox entries remain then. */
export type RelayFault = 'relay_failed' | 'job_refused' | 'cleanup_failed' | 'sweep_failed';

export interface RelayObserver {
  /** Passes a function that returns what waits in memory to be relayed. */
  watch(backlog: () => { readonly entries: number; readonly bytes: number }): void;
  /** This many messages were added to the queue in one call. */
  relayed(messages: number): void;
  failed(fault: RelayFault, error: unknown): void;
}

const LIMITS = {
  /** Messages in one call of the queue. */
  batchMessages: 1_000,
  /** Bytes that may wait in memory; further entries stay in the outbox for the sweeper. */
  waitingBytes: 16 * 1_048_576,
  /** Milliseconds from one call to the next. A call costs as much as some ten messages of it. */
  gatherMs: 10,
  /** Relayed entries are removed together, after this many milliseconds. */
  removeAfterMs: 200,
  /** Younger entries belong to the process that stored them. */
  sweepAgeMs: 2_000,
  /** Bounds how late a scheduled message is, plus the time to relay it. */
  sweepEveryMs: 250,
  /** The longest time without a sweep while the installation is quiet: only a crash leaves entries that are due then. */
  quietSweepEveryMs: 30_000,
  /** Milliseconds without a sweep after one that failed: each reads messages. */
  sweepAfterFaultMs: 1_000,
};

interface WaitingEntry extends OutboxEntry {
  readonly onRelayed: (() => void) | undefined;
}

/**
 * Relays messages from the outbox to the queue, outside of the request: one call of the queue at a time, with all that
 * wait. An entry that could not be relayed stays in the outbox until the sweeper of any process relays it.
 */
export class OutboxRelay extends JobDispatch {
  private waiting: WaitingEntry[] = [];
  private waitingBytes = 0;
  private relayed: string[] = [];
  private running: Promise<void> | null = null;
  private removing: Promise<void> = Promise.resolve();
  private removeTimer: NodeJS.Timeout | null = null;
  private readonly sweeps = new PeriodicTask(async () => {
    this.pauseMs = await this.sweepIfDue().catch((error: unknown) => {
      this.observer.failed('sweep_failed', error);
      return LIMITS.sweepAfterFaultMs;
    });
  });
  private pauseMs = LIMITS.sweepEveryMs;
  private activity = ALWAYS_ACTIVE;
  private endGathering: () => void = () => undefined;
  private closed = false;

  constructor(
    private readonly outbox: Outbox,
    private readonly queue: Pick<JobQueue, 'add' | 'remove'>,
    private readonly observer: RelayObserver,
  ) {
    super();
    observer.watch(() => ({ entries: this.waiting.length, bytes: this.waitingBytes }));
  }

  enqueue(entry: OutboxEntry, onRelayed?: () => void): void {
    const bytes = bytesOf(entry.messages);
    if (this.waitingBytes + bytes > LIMITS.waitingBytes) {
      onRelayed?.();
      return;
    }
    this.waiting.push({ ...entry, onRelayed });
    this.waitingBytes += bytes;
    if (onRelayed !== undefined) this.endGathering();
    this.running ??= this.run().finally(() => (this.running = null));
  }

  remove(jobId: string): Promise<void> {
    return this.queue.remove(jobId);
  }

  /** Starts to relay the entries of crashed processes and of scheduled messages. */
  startSweeping(activity = ALWAYS_ACTIVE): void {
    this.activity = activity;
    this.sweeps.start(() => (this.activity.isQuiet ? this.pauseMs : Math.min(this.pauseMs, LIMITS.sweepAfterFaultMs)));
    activity.onWake(() => {
      this.pauseMs = 0;
      this.sweeps.adjust();
    });
  }

  /** Relays all entries that are due for a sweeper. */
  async sweep(minAgeMs: number): Promise<void> {
    let swept: number;
    do {
      swept = await this.outbox.sweep(minAgeMs, (messages) => this.addInBatches(messages));
      if (swept > 0) this.activity.note();
    } while (swept > 0 && !this.closed);
  }

  /** Stops sweeping, relays what waits and removes what was relayed. */
  async close(): Promise<void> {
    this.closed = true;
    this.endGathering();
    await this.sweeps.close();
    await this.running;
    await this.removeRelayed();
  }

  /** @returns milliseconds until the next one */
  private async sweepIfDue(): Promise<number> {
    if (this.activity.isQuiet) {
      const nextMs = Math.min((await this.outbox.nextIn()) ?? Infinity, LIMITS.quietSweepEveryMs);
      if (nextMs > 0) return nextMs;
    }
    await this.sweep(LIMITS.sweepAgeMs);
    return LIMITS.sweepEveryMs;
  }

  private async run(): Promise<void> {
    while (this.waiting.length > 0) {
      const startedAt = performance.now();
      const entries = this.takeBatch();
      const messages = entries.flatMap((entry) => entry.messages);
      try {
        const refused = await this.addInBatches(messages);
        for (const entry of entries) await this.settle(entry, refused);
      } catch (error) {
        this.observer.failed('relay_failed', error);
      }
      for (const { onRelayed } of entries) onRelayed?.();
      await this.gather(startedAt);
    }
  }

  private async gather(startedAt: number): Promise<void> {
    const restMs = LIMITS.gatherMs - (performance.now() - startedAt);
    const waiting = this.waiting.reduce((sum, { messages }) => sum + messages.length, 0);
    const isFull = waiting >= LIMITS.batchMessages || this.waitingBytes >= BATCH_BYTES;
    const isUrgent = this.waiting.some(({ onRelayed }) => onRelayed !== undefined);
    if (restMs <= 0 || isFull || isUrgent || this.closed) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, restMs);
      this.endGathering = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private takeBatch(): WaitingEntry[] {
    let messages = 0;
    let bytes = 0;
    let count = 0;
    for (const entry of this.waiting) {
      const size = bytesOf(entry.messages);
      const isFull = messages + entry.messages.length > LIMITS.batchMessages || bytes + size > BATCH_BYTES;
      if (count > 0 && isFull) break;
      messages += entry.messages.length;
      bytes += size;
      count++;
    }
    this.waitingBytes -= bytes;
    return this.waiting.splice(0, count);
  }

  private async settle(entry: OutboxEntry, refused: Set<string>): Promise<void> {
    const rest = entry.messages.map(({ id }) => id).filter((id) => refused.has(id));
    if (rest.length > 0) {
      await this.outbox.postpone(entry.id, rest);
      return;
    }
    this.relayed.push(entry.id);
    this.removeTimer ??= setTimeout(() => void this.removeRelayed(), LIMITS.removeAfterMs);
  }

  private async addInBatches(messages: readonly Message[]): Promise<Set<string>> {
    const refused = new Set<string>();
    for (let start = 0; start < messages.length; start += LIMITS.batchMessages) {
      for (const id of await this.add(messages.slice(start, start + LIMITS.batchMessages))) refused.add(id);
    }
    return refused;
  }

  // A refused batch is bisected until the refused job is alone, so that it doesn't hold up the rest.
  private async add(messages: readonly Message[]): Promise<Set<string>> {
    try {
      await this.queue.add(messages);
      this.observer.relayed(messages.length);
      return new Set();
    } catch (error) {
      if (error instanceof DomainError && error.code === 'unavailable') throw error;
      const [first] = messages;
      if (messages.length === 1 && first !== undefined) {
        this.observer.failed('job_refused', error);
        return new Set([first.id]);
      }
      const middle = messages.length >> 1;
      const refused = await this.add(messages.slice(0, middle));
      return new Set([...refused, ...(await this.add(messages.slice(middle)))]);
    }
  }

  /** One removal at a time. Resolves when the last one has ended. */
  private removeRelayed(): Promise<void> {
    if (this.removeTimer !== null) clearTimeout(this.removeTimer);
    this.removeTimer = null;
    const ids = this.relayed.splice(0);
    if (ids.length > 0) {
      // If it fails, a sweeper relays the entries again, which is harmless.
      const remove = () => this.outbox.remove(ids);
      this.removing = this.removing.then(remove).catch((error: unknown) => {
        this.observer.failed('cleanup_failed', error);
      });
    }
    return this.removing;
  }
}
