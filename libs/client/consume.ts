import { ConflictError, SluiceError } from './errors.js';
import type { Leases, Rejection } from './leases.js';
import { backoffMs, onAbort, sleep, within } from './timing.js';
import type { CallOptions } from './transport.js';
import type { Lease, LeasedMessage, LeasedMessages } from './types.js';

export interface ConsumeOptions extends CallOptions {
  /** How many messages are held at a time: leased, and neither acknowledged nor rejected. 1 by default, up to 100. */
  readonly concurrency?: number | undefined;
  /** When others get the messages of a consumer that has died: 60 by default, up to 3,600. */
  readonly leaseSeconds?: number | undefined;
  /** Ends the loop after this many messages; no others are leased. Without it, the loop goes on until it is stopped. */
  readonly limit?: number | undefined;
  /** Is called with each error after which the consumer goes on by itself. */
  readonly onError?: ((error: SluiceError) => void) | undefined;
  /** Is called with each response to a lease, which says whether the account is `paused`, and is awaited. */
  readonly onLease?: ((leased: LeasedMessages) => unknown) | undefined;
}

/** A message that this consumer holds: its lease is extended until it is acknowledged or rejected. */
export interface HeldMessage {
  readonly id: string;
  readonly message: string;
  /** These four are there if they were sent. */
  readonly deliverAt?: string | undefined;
  readonly type?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly orderingKey?: string | undefined;
  readonly createdAt: string;
  /** Counts from 1. */
  readonly attempt: number;
  /** Is aborted when the lease was lost: somebody else may have the message by now. */
  readonly signal: AbortSignal;
  /** The message is delivered. Rejects if the server doesn't confirm that: the message may then be delivered again. */
  ack(): Promise<void>;
  /** The attempt has failed: the message is available again later, or `failed` if it was the last one. */
  nack(rejection?: Rejection): Promise<void>;
}

/** How long a server may wait for messages. */
const WAIT_SECONDS = 20;
/** How long the end of a loop may take. */
const RELEASE_MS = 5_000;

/**
 * Messages as they become available. Fails like any call if the first lease fails; later it goes on until it succeeds
 * or is refused for good.
 *
 * When the signal is aborted, the loop ends. Messages that the loop has returned can still be acknowledged or rejected;
 * the rest is rejected at once, so that others get it. When the loop is left otherwise, everything that is held is
 * rejected.
 */
export async function* consume(leases: Leases, options: ConsumeOptions): AsyncGenerator<HeldMessage, void, undefined> {
  const { concurrency = 1, leaseSeconds = 60, limit = Infinity, signal, onError, onLease } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 100)
    throw new RangeError('concurrency must be an integer from 1 to 100.');
  if (Math.floor(limit) !== limit || limit < 1) throw new RangeError('limit must be an integer of at least 1.');
  if (!(leaseSeconds > 0)) throw new RangeError('leaseSeconds must be positive.');
  const acknowledger = new Acknowledger(leases);
  const held = new Set<Held>();
  const next: Held[] = [];
  let changed = (): void => undefined;
  const ignore = onAbort(signal, () => {
    changed();
  });
  const isOver = () => signal?.aborted === true;
  let isLeft = true;
  let left = limit;
  let failures = 0;
  let hasLeased = false;
  try {
    while (left > 0 && !isOver()) {
      const message = next.shift();
      if (message !== undefined) {
        if (message.signal.aborted) continue;
        left--;
        yield message;
      } else if (held.size >= concurrency) {
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
      } else {
        try {
          // A loop that processes one after another gets one after another: it may be stopped before it takes more.
          const free = [...held].every((one) => one.isEnding) ? 1 : concurrency - held.size;
          const terms = { max: Math.min(free, left), seconds: leaseSeconds, wait: WAIT_SECONDS };
          const response = await leases.request(terms, { signal });
          for (const leased of response.data) {
            const one: Held = new Held(leased, leaseSeconds, leases, acknowledger, () => {
              held.delete(one);
              changed();
            });
            held.add(one);
            next.push(one);
          }
          hasLeased = true;
          failures = 0;
          await onLease?.(response);
        } catch (error) {
          if (isOver()) break;
          if (!hasLeased || !(error instanceof SluiceError) || !error.isRetryable) throw error;
          onError?.(error);
          await sleep(backoffMs(++failures), signal).catch(() => undefined);
        }
      }
    }
    isLeft = false;
  } catch (error) {
    isLeft = false;
    throw error;
  } finally {
    ignore();
    const rejection = { delaySeconds: 0, reason: 'The consumer was stopped.' };
    const signal = AbortSignal.timeout(RELEASE_MS);
    const released = [...(isLeft ? held : next)].filter((one) => !one.isEnding && !one.signal.aborted);
    // The lease of what could not be rejected expires.
    await Promise.allSettled(released.map((one) => one.nack(rejection, signal)));
  }
}

class Held implements HeldMessage {
  readonly id: string;
  readonly message: string;
  readonly deliverAt;
  readonly type;
  readonly metadata;
  readonly orderingKey;
  readonly createdAt: string;
  readonly attempt: number;
  readonly #lease: Lease;
  readonly #seconds: number;
  readonly #leases: Leases;
  readonly #acknowledger: Acknowledger;
  readonly #release: () => void;
  readonly #lost = new AbortController();
  readonly #settled = new AbortController();
  #isEnding = false;
  /** By the clock of this machine. */
  #expiresAt: number;

  constructor(leased: LeasedMessage, seconds: number, leases: Leases, acknowledger: Acknowledger, release: () => void) {
    this.id = leased.id;
    this.message = leased.message;
    this.deliverAt = leased.deliverAt;
    this.type = leased.type;
    this.metadata = leased.metadata;
    this.orderingKey = leased.orderingKey;
    this.createdAt = leased.createdAt;
    this.attempt = leased.attempt;
    this.#lease = { id: leased.id, leaseToken: leased.leaseToken };
    this.#seconds = seconds;
    this.#leases = leases;
    this.#acknowledger = acknowledger;
    this.#release = release;
    this.#expiresAt = performance.now() + seconds * 1_000;
    void this.#keep();
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** Whether it was acknowledged or rejected, confirmed or not. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  ack(): Promise<void> {
    return this.#end(this.#acknowledger.ack(this.#lease, this.signal));
  }

  nack(rejection?: Rejection, signal = this.signal): Promise<void> {
    return this.#end(this.#leases.nack(this.id, this.#lease.leaseToken, rejection, { signal, ...UNBOUNDED }));
  }

  async #end(confirmed: Promise<void>): Promise<void> {
    this.#isEnding = true;
    try {
      await confirmed;
    } finally {
      this.#settled.abort();
      this.#release();
    }
  }

  /** Extends the lease after half of its time, until the server has confirmed the end of the message. */
  async #keep(): Promise<void> {
    const settled = this.#settled.signal;
    const { id, leaseToken } = this.#lease;
    try {
      for (;;) {
        await sleep(this.#seconds * 500, settled, true);
        const sentAt = performance.now();
        await within(this.#expiresAt - sentAt, leaseLost(this.#lease), settled, (signal) =>
          this.#leases.extend(id, leaseToken, this.#seconds, { signal, ...UNBOUNDED }),
        );
        this.#expiresAt = sentAt + this.#seconds * 1_000;
      }
    } catch (error) {
      const isLost = error instanceof SluiceError && error.code === 'lease_lost';
      // Nobody else gets it before the lease ends, which an acknowledgement that is not confirmed yet may have done.
      if (!isLost || this.#isEnding)
        await sleep(this.#expiresAt - performance.now(), settled, true).catch(() => undefined);
      if (settled.aborted) return;
      this.#lost.abort(isLost ? error : leaseLost(this.#lease, error));
      this.#release();
    }
  }
}

/** Until the lease ends. */
const UNBOUNDED = { unbounded: true };

interface Acknowledged {
  readonly lease: Lease;
  readonly lost: AbortSignal;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Acknowledges in one request what was processed while the last one was under way. */
class Acknowledger {
  readonly #leases: Leases;
  #waiting: Acknowledged[] = [];
  #isSending = false;

  constructor(leases: Leases) {
    this.#leases = leases;
  }

  /** @param lost ends the tries */
  ack(lease: Lease, lost: AbortSignal): Promise<void> {
    let ignore = (): void => undefined;
    return new Promise<void>((resolve, reject) => {
      ignore = onAbort(lost, () => {
        reject(lost.reason as SluiceError);
      });
      this.#waiting.push({ lease, lost, resolve, reject });
      void this.#send();
    }).finally(() => {
      ignore();
    });
  }

  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    // For messages that are acknowledged at the same time.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH).filter(({ lost }) => !lost.aborted);
      if (batch.length === 0) continue;
      const allLost = new AbortController();
      const ignored = batch.map(({ lost }) =>
        onAbort(lost, () => {
          if (batch.every((one) => one.lost.aborted)) allLost.abort();
        }),
      );
      try {
        const leases = batch.map(({ lease }) => lease);
        const results = await this.#leases.ackBatch(leases, { signal: allLost.signal, ...UNBOUNDED });
        for (const [index, { lease, resolve, reject }] of batch.entries()) {
          if (results[index]?.result === 'acknowledged') resolve();
          else reject(leaseLost(lease));
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      } finally {
        for (const ignore of ignored) ignore();
      }
    }
    this.#isSending = false;
  }
}

const MAX_BATCH = 1_000;

function leaseLost({ id }: Lease, cause?: unknown): ConflictError {
  const message = `The lease of ${id} has expired: the message may be delivered again.`;
  return new ConflictError({ message, code: 'lease_lost', status: 409, cause });
}
