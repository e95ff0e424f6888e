import type { Job, Message } from '#messages/index.js';
import type { Outcome } from './deliver-message.js';
import type { ForeignEnd } from './foreign-end.js';

/** Names a queue in the database of the messages. */
export const IN_POSTGRESQL = 'postgresql';

/** Jobs that other programs ended are kept this long for inspection; our workers remove theirs immediately. */
export const ENDED_JOB_LIFETIME_MS = 24 * 3_600_000;

export interface QueueIdentity {
  /** Identifies the queue; without spaces. A new value means that the queue has lost all its jobs. */
  readonly dataSet: string;
  /** A new value means that any job may be missing. */
  readonly contents: string;
}

/** A job that the queue has. */
export interface InspectedJob {
  /** It waits, runs or is delayed: a worker will take it, or has it. */
  readonly isLive: boolean;
  /** How a worker of another program ended it; null when none did. */
  readonly foreignEnd: ForeignEnd | null;
}

export interface ForeignEnds {
  /** The last ends by workers of other programs, by the ids of their jobs. */
  readonly ends: ReadonlyMap<string, ForeignEnd>;
  /** Where to continue. */
  readonly position: string;
}

export interface QueueDepth {
  /** Jobs by their state. */
  readonly jobs: Readonly<Record<string, number>>;
  /** Seconds that the next job has waited; 0 when none waits. */
  readonly oldest: number;
}

export interface ConsumerOptions {
  readonly concurrency: number;
  /** Jobs that all workers of the queue with such a limit start in a second; 0 for no limit. */
  readonly rate: number;
  /** Milliseconds after which a silent worker has lost its jobs. */
  readonly lockMs: number;
}

/** Runs a job. Rejects when the store is away: the job is repeated. */
export type RunJob = (job: Job, stopping: AbortSignal) => Promise<Outcome>;

/** Whether the clock of this process is right. */
export interface ProcessClock {
  readonly isRight: boolean;
  onChange(listener: (isRight: boolean) => void): void;
}

export interface ConsumerObserver {
  /** The worker goes on. */
  failed(error: unknown, what: string): void;
  /** No jobs are taken although some wait. */
  stuck(): void;
}

/** Where the depth of a queue in the database of the messages is read. */
export interface Queryable {
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
}

/** A worker of the queue. */
export interface Consuming {
  /** `paused` while the clock of this process is wrong, `stuck` while it takes no jobs for an unknown reason. */
  readonly state: 'serving' | 'paused' | 'stuck';
  start(): void;
  /** Takes no more jobs, waits at most `graceMs` for those in progress, and hands the rest over to other workers. */
  close(graceMs: number): Promise<void>;
}

/**
 * The queue that carries jobs to workers. The messages in the store are authoritative: a job that the queue loses is
 * added again. Unless said otherwise, a method rejects while the queue can't be reached.
 */
export abstract class JobQueue {
  /**
   * Adds a job for each message: all, or none if one can't be added, or an unknown part if it is `unavailable`.
   * Accounts take turns: a message waits for a bounded number of another account's, however many that has. A job that the
   * queue still has is left unchanged, so adding twice is harmless.
   * @throws DomainError `unavailable` when the queue can't be reached; another error when a job can't be added
   */
  abstract add(messages: readonly Message[]): Promise<void>;

  /**
   * Removes a job, unless a worker has it.
   * @throws DomainError `unavailable` when the queue can't be reached
   */
  abstract remove(jobId: string): Promise<void>;

  /**
   * A worker that runs each job at least once: those of a silent worker are run again after `lockMs`. It takes no jobs
   * while the clock of its process is wrong.
   */
  abstract consume(run: RunJob, options: ConsumerOptions, clock: ProcessClock, observer: ConsumerObserver): Consuming;

  /** Closes its connections. */
  abstract close(): Promise<void>;

  /** Called by Nest when the process ends. */
  onApplicationShutdown(): Promise<void> {
    return this.close();
  }

  /** Whether its server responds; null when it is the database of the messages. */
  abstract get isUp(): boolean | null;

  /** Identifies the queue and its contents. */
  abstract identity(): Promise<QueueIdentity>;

  /**
   * Removes some of the jobs that are left in the queue that this installation used before, and that no worker will take
   * or has: retries only when they are due.
   * @param requeue called with their ids before they are gone. Several processes may be called with the same ids
   * @returns whether there may be more
   */
  abstract takeOver(requeue: (jobIds: readonly string[]) => Promise<unknown>): Promise<boolean>;

  /** Those of these jobs that the queue still has, by their ids. */
  abstract inspect(jobIds: readonly string[]): Promise<Map<string, InspectedJob>>;

  /** How workers of other programs ended jobs that the queue no longer has, as far as it still knows, by their ids. */
  abstract endsOf(jobIds: readonly string[]): Promise<Map<string, ForeignEnd>>;

  /**
   * Removes those of these jobs that are not live, with all their traces: while a dead job exists, a new one with its id
   * is ignored. From then on, their ends are not reported any more.
   */
  abstract removeDead(jobIds: readonly string[]): Promise<void>;

  /**
   * Removes jobs, whatever their state, with all that belongs to them but their events. One that a worker has is left to
   * that worker.
   * @returns how many were left
   */
  abstract purge(jobIds: readonly string[]): Promise<number>;

  /** The ids of the jobs that the queue has, and of those that its events are about, in parts of bounded size. */
  abstract mentionedJobs(): AsyncIterable<readonly string[]>;

  /** Removes the events of these jobs. */
  abstract removeEvents(jobIds: readonly string[]): Promise<void>;

  /**
   * What workers of other programs have ended: soon, but not reliably, because the queue keeps only its newest events.
   * Events shortly before the position are read again.
   * @param position of the previous call; null reads all that the queue still has
   */
  abstract readEnds(position: string | null): Promise<ForeignEnds>;

  /**
   * Calls the listener soon after a worker of another program has ended a job, until the queue is closed.
   * @returns false if it can't, so that `readEnds` has to be asked often
   */
  abstract listenForEnds(listener: () => void): boolean;

  /**
   * Removes some of the jobs that ended longer ago than this.
   * @returns whether there may be more
   */
  abstract removeOldJobs(olderThanMs: number): Promise<boolean>;

  /**
   * Repairs times in the queue that were set by a worker whose clock was ahead: locks, checks, retries and windows of
   * the rate limit too far in the future; and what keeps workers from finding jobs, such as keys of a wrong type.
   */
  abstract repairFutureTimestamps(): Promise<void>;

  /** @param database of the process's metrics */
  abstract depth(database: Queryable): Promise<QueueDepth>;
}
