import type { JobJson, PostgresQueueBackend, RedisQueueBackend } from 'bullmq';
import { Batcher } from '#platform/concurrency/batcher.js';
import { FIRST_TURN, NO_TURN } from '../../../application/fair-scheduler.js';
import type { WorkerPlaces } from '../worker-places.js';
import { JobsAhead, type Next, type Slot } from './jobs-ahead.js';

/** Slots of one batch. */
const MAX_SLOTS = 500;

type Backend = PostgresQueueBackend | RedisQueueBackend;

export interface Exchanged {
  readonly hasEnded: boolean;
  /** Null when only BullMQ can decide it. */
  readonly next: Next | null;
}

/** One batch, whose slots get only jobs of at most this priority. */
export type Exchange = (slots: Slot[], lastPriority: number) => Promise<Exchanged[]>;

const LEFT_TO_BULLMQ: Exchanged = { hasEnded: false, next: null };
const NO_JOB: Next = [null as never, '', 0, 0];

const NOTHING: Exchanged = { hasEnded: false, next: NO_JOB };

const ANY_PRIORITY = NO_TURN;
const EXPRESS_PRIORITY = FIRST_TURN - 1;

/**
 * Completes jobs and takes the next ones in batches: all slots of a worker that become free while a batch runs share
 * the next one. What is out of the ordinary is left to BullMQ.
 * @param exchange one batch
 * @param name of the worker
 * @param places of the worker; without them, every slot can get any job
 */
export function exchangeTogether(
  backend: Backend,
  exchange: Exchange,
  name: string | undefined,
  places: WorkerPlaces | undefined,
): void {
  const exchangeUpTo = async (slots: Slot[], lastPriority: number) => {
    // Mostly the first look of a worker whose places are all in use.
    if (slots.every(({ jobId, takesNext }) => jobId === null && !takesNext)) return slots.map(() => NOTHING);
    const exchanged = await exchange(slots, lastPriority).catch((error: unknown) => {
      backend.emit('error', error);
      return slots.map(() => LEFT_TO_BULLMQ);
    });
    for (const { next } of exchanged) {
      const id = next?.[1] as string | undefined;
      if (id) places?.take(id);
    }
    return exchanged;
  };
  const run = async (slots: Slot[]) => {
    const ordinary = places === undefined ? slots.length : endOfOrdinary(slots, places.free);
    const [first, reserve] = [slots.slice(0, ordinary), slots.slice(ordinary)];
    if (places?.isReserveOpen !== true) {
      return exchangeUpTo([...first, ...reserve.map((slot) => ({ ...slot, takesNext: false }))], ANY_PRIORITY);
    }
    const exchanged = await exchangeUpTo(first, ANY_PRIORITY);
    const express = await exchangeUpTo(reserve, EXPRESS_PRIORITY);
    if (express.some(({ next }) => !next?.[1])) places.closeReserve();
    return [...exchanged, ...express];
  };
  const reported = (error: unknown) => {
    backend.emit('error', error);
    return undefined;
  };
  const ahead = new JobsAhead((jobId, token) => {
    places?.end(jobId);
    backend.moveJobFromActiveToWait(jobId, token).catch(reported);
  });
  const runAhead = async (slots: Slot[]) => {
    const fresh = slots.find(({ jobId, takesNext }) => jobId === null && takesNext);
    const free = (places?.free ?? 0) - slots.filter(({ takesNext }) => takesNext).length;
    const following = fresh === undefined ? [] : ahead.slotsAfter(fresh, free);
    const exchanged = await run([...slots, ...following]);
    ahead.keep(
      following,
      exchanged.splice(slots.length).map(({ next }) => next),
    );
    return exchanged;
  };
  // One at a time: fewer, larger batches cost less than concurrent ones.
  const batcher = new Batcher(runAhead, { maxItems: MAX_SLOTS, maxWaiting: Infinity });
  const isFull = () => places?.free === 0;
  const moveToActive = backend.moveToActive.bind(backend);
  const moveToCompleted = backend.moveToCompleted.bind(backend);
  const moveToFailed = backend.moveToFailed.bind(backend);
  const takeOne: typeof moveToActive = async (...call) => (isFull() ? NO_JOB : moveToActive(...call));

  backend.moveToActive = async (token) => {
    const taken = ahead.take(token);
    const next = taken ?? (await batcher.submit({ jobId: null, token, takesNext: true })).next;
    return next ?? takeOne(token, name);
  };
  backend.moveToCompleted = async (job, result, removeOnComplete, token, fetchNext) => {
    const isPlain = removeOnComplete === true && !job.parentKey && !job.opts.deduplication;
    if (!isPlain) return moveToCompleted(job, result, removeOnComplete, token, fetchNext && !isFull());
    const { hasEnded, next } = await batcher.submit({ jobId: job.id ?? null, token, takesNext: fetchNext });
    // Also when its lock is lost: BullMQ then says why.
    if (!hasEnded) return moveToCompleted(job, result, removeOnComplete, token, fetchNext && !isFull());
    const finishedOn = Date.now();
    if (!fetchNext) return { result: undefined, finishedOn };
    // The job has ended, even if taking the next one fails.
    const taken = next ?? (await takeOne(token, name).catch(reported));
    return { result: taken, finishedOn };
  };
  // BullMQ would take the next job whoever holds the places.
  backend.moveToFailed = (job, error, removeOnFail, token, fetchNext, ...more) =>
    moveToFailed(job, error, removeOnFail, token, fetchNext && !isFull(), ...more);
  if (places !== undefined) waitForReserve(backend, places);
}

/** While all places are held, jobs that can't use the reserve do not wake the worker. */
function waitForReserve(backend: Backend, places: WorkerPlaces): void {
  const waitForJob = backend.waitForJob.bind(backend);
  const disconnectBlocking = backend.disconnectBlocking.bind(backend);
  backend.waitForJob = async (seconds) => {
    if (places.free > 0) return waitForJob(seconds);
    await places.untilUsable(seconds * 1_000);
    return null;
  };
  backend.disconnectBlocking = (...call) => {
    places.interrupt();
    return disconnectBlocking(...call);
  };
}

/** Where the slots begin that take a job although no place is free for them. */
function endOfOrdinary(slots: readonly Slot[], free: number): number {
  let taking = 0;
  const end = slots.findIndex(({ takesNext }) => takesNext && ++taking > free);
  return end === -1 ? slots.length : end;
}

/** Whether a job can start at once and depends on no other. */
export function isOrdinary({ id, opts, parentKey, deduplicationId, repeatJobKey }: JobJson): boolean {
  const { delay, lifo } = opts;
  return Boolean(id) && !delay && !lifo && !parentKey && !deduplicationId && !repeatJobKey;
}
