import type { EventEmitter } from 'node:events';
import { DomainError, RetryLaterError } from '#kernel/domain-error.js';

/** The maximum number of waiting requests of a caller, regardless of how long they wait: each holds memory. */
const MAX_WAITING = 1_000;
/** A request that has waited for this long is refused. */
const GIVE_UP_MS = 10_000;

export interface CallerLimitOptions {
  /** The maximum number of concurrent operations of one caller. */
  readonly perCaller: number;
  /** New operations are refused while one of the caller has waited for longer than this. */
  readonly maxWaitMs: number;
}

interface Caller {
  running: number;
  readonly waiting: { readonly since: number; readonly start: () => void }[];
}

/**
 * Limits the concurrent operations of each caller. The others wait without using a connection or the event loop, so
 * that a caller delays only itself. p-limit refuses nothing: it knows neither how long a caller has waited nor that its
 * client has left.
 */
export class CallerLimit {
  private readonly callers = new Map<string, Caller>();

  constructor(private readonly limits: CallerLimitOptions) {}

  /**
   * Resolves when the caller may run one more operation, which ends with `release`.
   * @param client emits `close` when nobody waits for the result any more
   * @throws RetryLaterError `unavailable` when the caller has too much in progress
   */
  async acquire(callerId: string, client?: EventEmitter): Promise<void> {
    const caller = this.callers.get(callerId) ?? { running: 0, waiting: [] };
    this.callers.set(callerId, caller);
    if (caller.running < this.limits.perCaller) {
      caller.running++;
      return;
    }
    const since = performance.now();
    const [oldest] = caller.waiting;
    if ((oldest && since - oldest.since > this.limits.maxWaitMs) || caller.waiting.length >= MAX_WAITING) {
      throw tooMuch();
    }
    await new Promise<void>((resolve, reject) => {
      const waiter = {
        since,
        start: () => {
          stopWaiting();
          resolve();
        },
      };
      const refuse = (error: DomainError) => {
        stopWaiting();
        caller.waiting.splice(caller.waiting.indexOf(waiter), 1);
        reject(error);
      };
      const timer = setTimeout(() => {
        refuse(tooMuch());
      }, GIVE_UP_MS);
      const leave = () => {
        refuse(new DomainError('malformed_request', 'The client closed the connection.'));
      };
      const stopWaiting = () => {
        clearTimeout(timer);
        client?.off('close', leave);
      };
      client?.once('close', leave);
      caller.waiting.push(waiter);
    });
  }

  /** @param restMs milliseconds for which the operation still counts */
  release(callerId: string, restMs = 0): void {
    if (restMs > 0) {
      setTimeout(() => {
        this.release(callerId);
      }, restMs);
      return;
    }
    const caller = this.callers.get(callerId);
    const next = caller?.waiting.shift();
    if (next !== undefined) next.start();
    else if (caller !== undefined && --caller.running === 0) this.callers.delete(callerId);
  }
}

function tooMuch(): RetryLaterError {
  const detail = 'The account has too many requests of this kind in progress. Retry later.';
  return new RetryLaterError('unavailable', detail, 1);
}
