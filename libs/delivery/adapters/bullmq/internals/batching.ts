import type { JobJson, PostgresQueueBackend, RedisQueueBackend } from 'bullmq';
import { Batcher } from '#platform/concurrency/batcher.js';

/** One of the jobs that a worker runs at the same time. */
export interface Slot {
  /** The job that the worker has completed; null for a new slot. */
  readonly jobId: string | null;
  /** Locks that job, and the next one. */
  readonly token: string;
  readonly takesNext: boolean;
}

/** Slots of one batch. */
const MAX_SLOTS = 500;

type Backend = PostgresQueueBackend | RedisQueueBackend;

/** A job, its id, milliseconds to wait for the rate limit, and when the next delayed job is due. */
type Next = Awaited<ReturnType<PostgresQueueBackend['moveToActive']>>;

export interface Exchanged {
  readonly hasEnded: boolean;
  /** Null when only BullMQ can decide it. */
  readonly next: Next | null;
}

const LEFT_TO_BULLMQ: Exchanged = { hasEnded: false, next: null };

/**
 * Completes jobs and takes the next ones in batches: all slots of a worker that become free while a batch runs share
 * the next one. What is out of the ordinary is left to BullMQ.
 * @param exchange one batch
 * @param name of the worker
 */
export function exchangeTogether(
  backend: Backend,
  exchange: (slots: Slot[]) => Promise<Exchanged[]>,
  name: string | undefined,
): void {
  const run = (slots: Slot[]) =>
    exchange(slots).catch((error: unknown) => {
      backend.emit('error', error);
      return slots.map(() => LEFT_TO_BULLMQ);
    });
  // One at a time: fewer, larger batches cost less than concurrent ones.
  const batcher = new Batcher(run, { maxItems: MAX_SLOTS, maxWaiting: Infinity });
  const reported = (error: unknown) => {
    backend.emit('error', error);
    return undefined;
  };
  const moveToActive = backend.moveToActive.bind(backend);
  const moveToCompleted = backend.moveToCompleted.bind(backend);

  backend.moveToActive = async (token) => {
    const { next } = await batcher.submit({ jobId: null, token, takesNext: true });
    return next ?? moveToActive(token, name);
  };
  backend.moveToCompleted = async (job, result, removeOnComplete, token, fetchNext) => {
    const isPlain = removeOnComplete === true && !job.parentKey && !job.opts.deduplication;
    if (!isPlain) return moveToCompleted(job, result, removeOnComplete, token, fetchNext);
    const { hasEnded, next } = await batcher.submit({ jobId: job.id ?? null, token, takesNext: fetchNext });
    // Also when its lock is lost: BullMQ then says why.
    if (!hasEnded) return moveToCompleted(job, result, removeOnComplete, token, fetchNext);
    const finishedOn = Date.now();
    if (!fetchNext) return { result: undefined, finishedOn };
    // The job has ended, even if taking the next one fails.
    const taken = next ?? (await moveToActive(token, name).catch(reported));
    return { result: taken, finishedOn };
  };
}

/** Whether a job can start at once and depends on no other. */
export function isOrdinary({ id, opts, parentKey, deduplicationId, repeatJobKey }: JobJson): boolean {
  const { delay, lifo } = opts;
  return Boolean(id) && !delay && !lifo && !parentKey && !deduplicationId && !repeatJobKey;
}
