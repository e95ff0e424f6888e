import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#kernel/clock.js';
import { DomainError } from '#kernel/domain-error.js';
import { withTimeout } from '#kernel/timeout.js';
import {
  backoff,
  contentJson,
  type Deliveries,
  type Job,
  type Message,
  POISON_AFTER_LONE_CRASHES,
  type RetryPolicy,
  SUSPECT_AFTER_CRASHES,
} from '#messages/index.js';
import { nextAttemptAfter, reasonOf } from './handler-errors.js';
import type { MessageHandler } from './message-handler.js';
import { ReadWriteLock } from './read-write-lock.js';

/** What becomes of the job. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'again'; readonly afterMs: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** How an attempt failed. */
interface Failure {
  readonly reason: string;
  /** The handler's choice: milliseconds until the next attempt, or none; null leaves it to the policy. */
  readonly next: number | 'never' | null;
}

export interface DeliveryTerms extends RetryPolicy {
  /** Milliseconds that one attempt may take. */
  readonly attemptTimeoutMs: number;
}

/** How long a claim outlives the timeout of its attempt, to store how it ended. */
const SETTLING_MS = 15_000;
/** How long a claim is retried when its response is lost: without a retry, it would count as a crash. */
const CLAIMING_MS = 5_000;
const DONE: Outcome = { kind: 'done' };
const IMMEDIATELY: Outcome = { kind: 'again', afterMs: 0 };
/** The worker stops before the handler has ended: a deploy, and no fault of the message. */
const STOPPED: Failure = { reason: 'worker_stopped', next: null };

/** How a delivery ended; `lost_claim` when another worker has taken the message over. */
export type DeliveryEnd = 'delivered' | 'retried' | 'failed' | 'lost_claim';

export interface DeliveryObserver {
  ended(how: DeliveryEnd): void;
  /** The handler ended or timed out after this many milliseconds. */
  handled(ms: number): void;
}

/** When a job is looked at again whose message this process is still delivering. */
const STILL_RUNNING: Outcome = { kind: 'again', afterMs: 1_000 };

/** Runs one job: claims its message, calls the handler, stores how it ended. */
export class DeliverMessage {
  private readonly lock = new ReadWriteLock();
  /** The rounds of messages that are being delivered. */
  private readonly running = new Set<string>();

  constructor(
    private readonly deliveries: Deliveries,
    private readonly handler: MessageHandler,
    private readonly terms: DeliveryTerms,
    private readonly clock: Clock,
    private readonly observer: DeliveryObserver,
    private readonly random: () => number = Math.random,
    private readonly newToken: () => string = randomUUID,
  ) {}

  /**
   * @param stopping aborts when the process must end: unfinished attempts are handed over to other workers
   * @throws DomainError `unavailable` when the store could not be reached
   */
  async execute(job: Job, stopping: AbortSignal): Promise<Outcome> {
    const round = `${job.id}.${job.retries}`;
    // This process was too busy to renew the lock of the job, and has got it once more. Nothing has crashed.
    if (this.running.has(round)) return STILL_RUNNING;
    this.running.add(round);
    try {
      return await this.run(job, stopping);
    } finally {
      this.running.delete(round);
    }
  }

  private async run(job: Job, stopping: AbortSignal): Promise<Outcome> {
    const terms = { token: this.newToken(), leaseMs: this.terms.attemptTimeoutMs + SETTLING_MS };
    const first = await this.lock.shared(async (): Promise<Message | Outcome> => {
      if (stopping.aborted) return IMMEDIATELY;
      const claim = () => this.deliveries.claim(job, terms);
      const claimed = await retryWhileUnavailable(claim, CLAIMING_MS, stopping);
      if (claimed === null) return DONE;
      if ('dueInMs' in claimed) return { kind: 'again', afterMs: claimed.dueInMs };
      if (claimed.state.loneCrashes >= POISON_AFTER_LONE_CRASHES) return this.failPoisonMessage(claimed, stopping);
      if (claimed.state.crashes >= SUSPECT_AFTER_CRASHES) return claimed;
      return this.attempt(claimed, stopping);
    });
    if ('kind' in first) return first;
    return this.lock.exclusive(async () => {
      const renew = () => this.deliveries.runsAlone(first, terms.leaseMs);
      if (await retryWhileUnavailable(renew, CLAIMING_MS, stopping)) return this.attempt(first.runAlone(), stopping);
      this.observer.ended('lost_claim');
      return DONE;
    });
  }

  private failPoisonMessage(claimed: Message, stopping: AbortSignal): Promise<Outcome> {
    const reason = 'worker_lost';
    const failed = claimed.fail(reason, this.clock.now());
    return this.settle('failed', claimed, failed, { kind: 'failed', reason }, stopping);
  }

  private async attempt(claimed: Message, stopping: AbortSignal): Promise<Outcome> {
    const failure = stopping.aborted ? STOPPED : await this.handle(claimed, stopping);
    const at = this.clock.now();
    if (failure === null) return this.settle('delivered', claimed, claimed.deliver(at), DONE, stopping);
    const { reason, next } = failure;
    if (failure === STOPPED)
      return this.settle('retried', claimed, claimed.handOver(reason, at), IMMEDIATELY, stopping);
    if (next === 'never' || claimed.isLastAttempt(this.terms)) {
      return this.settle('failed', claimed, claimed.fail(reason, at), { kind: 'failed', reason }, stopping);
    }
    const afterMs = next ?? backoff(this.terms, claimed.attemptsUsed + 1, this.random());
    const again = claimed.requeue(reason, at, new Date(at.getTime() + afterMs));
    return this.settle('retried', claimed, again, { kind: 'again', afterMs }, stopping);
  }

  /** @returns null when the message was delivered */
  private async handle(claimed: Message, stopping: AbortSignal): Promise<Failure | null> {
    const { attemptTimeoutMs } = this.terms;
    const { id, accountId, createdAt, attempts: attempt, traceparent } = claimed.state;
    const delivery = {
      ...{ id, accountId, ...contentJson(claimed.state), createdAt, attempt, traceparent },
      attemptsLeft: claimed.attemptsLeft(this.terms),
      deadline: new Date(Date.now() + attemptTimeoutMs),
    };
    const ending = new AbortController();
    const startedAt = performance.now();
    try {
      // An async function, so that a handler that throws synchronously fails only this attempt.
      const handled = (async () => this.handler.handle(delivery, ending.signal))();
      const end = () => {
        const [name, what] = stopping.aborted
          ? ['AbortError', 'The worker stops.']
          : ['TimeoutError', `The attempt took longer than ${attemptTimeoutMs} ms.`];
        const error = Object.assign(new Error(what), { name });
        ending.abort(error);
        if (stopping.aborted) return STOPPED;
        throw error;
      };
      return (await withTimeout(handled, attemptTimeoutMs, end, stopping)) ?? null;
    } catch (error) {
      return { reason: reasonOf(error), next: nextAttemptAfter(error, this.terms.maxBackoffMs) };
    } finally {
      this.observer.handled(performance.now() - startedAt);
    }
  }

  /** @returns the outcome, or `done` when another worker has taken the message over */
  private async settle(
    how: DeliveryEnd,
    claimed: Message,
    ended: Message,
    outcome: Outcome,
    stopping: AbortSignal,
  ): Promise<Outcome> {
    // Retried without limit: the handler has run, and dropping its result would make it run again.
    const settled = await retryWhileUnavailable(() => this.deliveries.settle(claimed, ended), Infinity, stopping);
    this.observer.ended(settled ? how : 'lost_claim');
    if (settled) return outcome;
    // This process was stopped or busy for longer than the lock of the job: it has not crashed. A message that ran alone
    // may have kept it busy.
    if (claimed.state.claim?.alone !== true) await this.deliveries.excuse(claimed).catch(() => undefined);
    return DONE;
  }
}

/** Repeats a call of the store while the store is unavailable, for at most `maxMs`. */
async function retryWhileUnavailable<T>(call: () => Promise<T>, maxMs: number, stopping: AbortSignal): Promise<T> {
  let waited = 0;
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1_000)) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof DomainError) || stopping.aborted || waited >= maxMs) throw error;
      await sleep(waitMs);
      waited += waitMs;
    }
  }
}
