import type { PostgresQueueBackend } from 'bullmq';

/** One of the jobs that a worker runs at the same time. */
export interface Slot {
  /** The job that the worker has completed; null for a new slot. */
  readonly jobId: string | null;
  /** Locks that job, and the next one. */
  readonly token: string;
  readonly takesNext: boolean;
}

/** A job, its id, milliseconds to wait for the rate limit, and when the next delayed job is due. */
export type Next = Awaited<ReturnType<PostgresQueueBackend['moveToActive']>>;

/** Jobs that a worker takes ahead at most: others that were woken at the same time get their share. */
const MAX_AHEAD = 10;

/** What a worker of BullMQ calls the slots of a run: its id, and a number that rises by one with each call. */
const TOKEN = /^(.*:)(\d+)$/;

/**
 * Jobs that were taken for the next calls of a worker. BullMQ asks for one job after the other, and starts none while there
 * may be more: several that wait would take a statement each, and the first would wait for all of them.
 */
export class JobsAhead {
  private readonly results = new Map<string, Next>();

  /** @param putBack called with a job that the worker did not ask for: it is pausing or closing */
  constructor(private readonly putBack: (jobId: string, token: string) => void) {}

  /** The slots of the calls that follow this one. */
  slotsAfter({ token }: Slot, free: number): Slot[] {
    const [, worker, number] = TOKEN.exec(token) ?? [];
    if (worker === undefined) return [];
    return Array.from({ length: Math.max(0, Math.min(free, MAX_AHEAD)) }, (_, index) => {
      return { jobId: null, token: `${worker}${Number(number) + 1 + index}`, takesNext: true };
    });
  }

  /**
   * Keeps what was taken for these slots until the next iteration of the event loop. The worker makes its calls before it,
   * since nothing else is needed for them.
   */
  keep(slots: readonly Slot[], results: readonly (Next | null)[]): void {
    for (const [index, { token }] of slots.entries()) {
      const next = results[index] ?? null;
      if (next !== null) this.results.set(token, next);
    }
    setImmediate(() => {
      for (const { token } of slots) {
        const jobId = this.take(token)?.[1] as string | undefined;
        if (jobId) this.putBack(jobId, token);
      }
    });
  }

  /** The result of a call that was made ahead. */
  take(token: string): Next | undefined {
    const next = this.results.get(token);
    this.results.delete(token);
    return next;
  }
}
