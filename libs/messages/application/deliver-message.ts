import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '#kernel/domain-error.js';
import type { Clock } from '#kernel/clock.js';
import type { Message } from '../domain/message.js';
import { backoff, type RetryPolicy } from '../domain/retry-policy.js';
import type { Deliveries, Job } from './deliveries.js';
import { GiveUp, RetryDelivery, type MessageHandler } from './message-handler.js';
import { Solitude } from './solitude.js';

/** What becomes of the job. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'again'; readonly afterMs: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** How an attempt failed. */
interface Failure {
  readonly reason: string;
  /** What the handler wants: to be called again after so many milliseconds, or never; null leaves it to the policy. */
  readonly next: number | 'never' | null;
}

export interface DeliveryTerms extends RetryPolicy {
  /** Milliseconds that one attempt may take. */
  readonly attemptTimeoutMs: number;
}

/** A message that was taken over so often is suspected of killing its workers, and runs alone. */
const SUSPECT_AFTER_CRASHES = 2;
/** One that kills its worker alone so often is failed. Its neighbours never are. */
const CONVICTED_AFTER_LONE_CRASHES = 3;
/** Milliseconds that a claim outlives its attempt, for the store to hear how it ended. */
const SETTLING_MS = 15_000;
/** Milliseconds for which a claim is told again when its answer is lost: left alone, it would pass for a crash. */
const CLAIMING_MS = 5_000;
const MAX_REASON_LENGTH = 1_000;
const DONE: Outcome = { kind: 'done' };

/** How a delivery ended; `lost_claim` when another worker has taken the message over meanwhile. */
export type DeliveryEnd = 'delivered' | 'retried' | 'failed' | 'lost_claim';

/** Is told of deliveries, for whoever runs the process. */
export interface DeliveryObserver {
  ended(how: DeliveryEnd): void;
  /** The handler has taken so many milliseconds, or its time was up. */
  handled(ms: number): void;
}

/** Runs one job: claims its message, calls the handler, stores how it ended. */
export class DeliverMessage {
  private readonly solitude = new Solitude();

  constructor(
    private readonly deliveries: Deliveries,
    private readonly handler: MessageHandler,
    private readonly terms: DeliveryTerms,
    private readonly clock: Clock,
    private readonly random: () => number = Math.random,
    private readonly observer: DeliveryObserver | null = null,
  ) {}

  /**
   * @param stopping aborts when the process ends: what the store could not be told by then is left to whoever takes
   *   the job over
   * @throws DomainError `unavailable` when the store could not be asked or told
   */
  async execute(job: Job, stopping: AbortSignal): Promise<Outcome> {
    const terms = { token: randomUUID(), leaseMs: this.terms.attemptTimeoutMs + SETTLING_MS };
    const first = await this.solitude.amongOthers(async () => {
      const claimed = await this.told(() => this.deliveries.claim(job, terms), CLAIMING_MS, stopping);
      if (claimed === null) return DONE;
      if (claimed.state.loneCrashes >= CONVICTED_AFTER_LONE_CRASHES) return this.convict(claimed, stopping);
      if (claimed.state.crashes >= SUSPECT_AFTER_CRASHES) return claimed;
      return this.attempt(claimed, stopping);
    });
    if ('kind' in first) return first;
    return this.solitude.alone(async () => {
      const isAlone = () => this.deliveries.runsAlone(first, terms.leaseMs);
      if (await this.told(isAlone, CLAIMING_MS, stopping)) return this.attempt(first, stopping);
      this.observer?.ended('lost_claim');
      return DONE;
    });
  }

  private async convict(claimed: Message, stopping: AbortSignal): Promise<Outcome> {
    const failed = claimed.fail('worker_lost', this.clock.now());
    return (await this.end('failed', claimed, failed, stopping)) ? { kind: 'failed', reason: 'worker_lost' } : DONE;
  }

  private async attempt(claimed: Message, stopping: AbortSignal): Promise<Outcome> {
    const begun = performance.now();
    const failure = await this.handle(claimed);
    this.observer?.handled(performance.now() - begun);
    const at = this.clock.now();
    if (failure === null) {
      await this.end('delivered', claimed, claimed.deliver(at), stopping);
      return DONE;
    }
    const { reason, next } = failure;
    const failures = claimed.state.failures + 1;
    if (next === 'never' || failures >= this.terms.maxAttempts) {
      const failed = await this.end('failed', claimed, claimed.fail(reason, at), stopping);
      return failed ? { kind: 'failed', reason } : DONE;
    }
    const afterMs = next === null ? backoff(this.terms, failures, this.random()) : this.bounded(next);
    const retried = await this.end('retried', claimed, claimed.requeue(reason, at), stopping);
    return retried ? { kind: 'again', afterMs } : DONE;
  }

  // A handler may have computed it from what somebody else sent, so anything can come.
  private bounded(afterMs: number): number {
    const { maxBackoffMs } = this.terms;
    return Number.isNaN(afterMs) ? maxBackoffMs : Math.round(Math.min(Math.max(afterMs, 0), maxBackoffMs));
  }

  /** @returns null when the message was delivered */
  private async handle({ state }: Message): Promise<Failure | null> {
    const deadline = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const timedOut = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = new Error(`The attempt took longer than ${this.terms.attemptTimeoutMs} ms.`);
        deadline.abort(error);
        reject(error);
      }, this.terms.attemptTimeoutMs);
    });
    const { id, accountId, text, createdAt, attempts: attempt, failures, traceparent } = state;
    const delivery = {
      ...{ id, accountId, message: text, createdAt, attempt, traceparent },
      attemptsLeft: Math.max(0, this.terms.maxAttempts - failures - 1),
      deadline: new Date(this.clock.now().getTime() + this.terms.attemptTimeoutMs),
    };
    try {
      // In a function of its own, so that a handler that throws before its first await fails only this attempt.
      const handled = (async () => this.handler.handle(delivery, deadline.signal))();
      await Promise.race([handled, timedOut]);
      return null;
    } catch (error) {
      const next = error instanceof GiveUp ? 'never' : error instanceof RetryDelivery ? error.afterMs : null;
      return { reason: reasonOf(error), next };
    } finally {
      clearTimeout(timer);
    }
  }

  /** @returns false when another worker has taken the message over */
  private async end(how: DeliveryEnd, claimed: Message, ended: Message, stopping: AbortSignal): Promise<boolean> {
    const settled = await this.settle(claimed, ended, stopping);
    this.observer?.ended(settled ? how : 'lost_claim');
    return settled;
  }

  // The handler has done its work: to forget that because the store is away would do the work twice.
  private settle(claimed: Message, ended: Message, stopping: AbortSignal): Promise<boolean> {
    return this.told(() => this.deliveries.settle(claimed, ended), Infinity, stopping);
  }

  /** Tells the store again while it is away, for at most so many milliseconds. */
  private async told<T>(tell: () => Promise<T>, patienceMs: number, stopping: AbortSignal): Promise<T> {
    let waited = 0;
    for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1_000)) {
      try {
        return await tell();
      } catch (error) {
        if (!(error instanceof DomainError) || stopping.aborted || waited >= patienceMs) throw error;
        await sleep(waitMs);
        waited += waitMs;
      }
    }
  }
}

function reasonOf(error: unknown): string {
  const text = textOf(error).replaceAll('\u0000', '').slice(0, MAX_REASON_LENGTH).toWellFormed();
  return text || 'The handler failed without a reason.';
}

// Anything can be thrown, also what throws when it is looked at: that fails this attempt like all else.
function textOf(error: unknown): string {
  try {
    const said: unknown = error instanceof Error ? error.message : error;
    return String(said);
  } catch {
    return '';
  }
}
