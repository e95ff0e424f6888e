import { ConflictError, SluiceError } from './errors.js';
import type { Leases, Rejection } from './leases.js';
import { backoffMs, onAbort, sleep } from './timing.js';
import type { CallOptions } from './transport.js';
import type { Lease, LeasedMessage } from './types.js';

export interface ConsumeOptions extends CallOptions {
  /** How many messages are held at a time: leased, and neither acknowledged nor rejected. 1 by default, up to 100. */
  readonly concurrency?: number | undefined;
  /** When others get the messages of a consumer that has died: 60 by default, up to 3,600. */
  readonly leaseSeconds?: number | undefined;
  /** Is called with each error after which the consumer goes on by itself. */
  readonly onError?: ((error: SluiceError) => void) | undefined;
}

/** A message that this consumer holds: its lease is extended until it is acknowledged or rejected. */
export interface HeldMessage {
  readonly id: string;
  readonly message: string;
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
 * Messages as they become available. Fails like any call if the first lease fails; later it goes on until it succeeds or
 * is refused for good.
 *
 * When the signal is aborted, the loop ends. What it has got can still be acknowledged or rejected; the rest is rejected
 * at once, so that others get it. When the loop is left otherwise, everything that is held is rejected.
 */
export async function* consume(leases: Leases, options: ConsumeOptions): AsyncGenerator<HeldMessage, void, undefined> {
  const { concurrency = 1, leaseSeconds = 60, signal, onError } = options;
  const acknowledger = new Acknowledger(leases);
  const held = new Set<Held>();
  const next: Held[] = [];
  let changed = (): void => undefined;
  const ignore = onAbort(signal, () => {
    changed();
  });
  const isOver = () => signal?.aborted === true;
  let isLeft = true;
  let failures = 0;
  let hasLeased = false;
  try {
    while (!isOver()) {
      const message = next.shift();
      if (message !== undefined) {
        yield message;
      } else if (held.size >= concurrency) {
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
      } else {
        try {
          const terms = { max: Math.min(concurrency - held.size, 100), seconds: leaseSeconds, wait: WAIT_SECONDS };
          for (const leased of await leases.lease(terms, { signal })) {
            const one: Held = new Held(leased, leaseSeconds, leases, acknowledger, () => {
              held.delete(one);
              changed();
            });
            held.add(one);
            next.push(one);
          }
          hasLeased = true;
          failures = 0;
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
    const released = [...(isLeft ? held : next)].filter((one) => !one.isSettled);
    // The lease of what could not be rejected expires.
    await Promise.allSettled(released.map((one) => one.nack(rejection, signal)));
  }
}

class Held implements HeldMessage {
  readonly id: string;
  readonly message: string;
  readonly createdAt: string;
  readonly attempt: number;
  readonly #lease: Lease;
  readonly #seconds: number;
  readonly #leases: Leases;
  readonly #acknowledger: Acknowledger;
  readonly #release: () => void;
  readonly #lost = new AbortController();
  readonly #settled = new AbortController();

  constructor(leased: LeasedMessage, seconds: number, leases: Leases, acknowledger: Acknowledger, release: () => void) {
    this.id = leased.id;
    this.message = leased.message;
    this.createdAt = leased.createdAt;
    this.attempt = leased.attempt;
    this.#lease = { id: leased.id, leaseToken: leased.leaseToken };
    this.#seconds = seconds;
    this.#leases = leases;
    this.#acknowledger = acknowledger;
    this.#release = release;
    void this.#keep();
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  get isSettled(): boolean {
    return this.#settled.signal.aborted;
  }

  ack(): Promise<void> {
    this.#settled.abort();
    return this.#acknowledger.ack(this.#lease).finally(this.#release);
  }

  nack(rejection?: Rejection, signal?: AbortSignal): Promise<void> {
    this.#settled.abort();
    return this.#leases.nack(this.id, this.#lease.leaseToken, rejection, { signal }).finally(this.#release);
  }

  /** Extends the lease in good time, until the message is settled. */
  async #keep(): Promise<void> {
    const { signal } = this.#settled;
    try {
      for (;;) {
        await sleep(this.#seconds * 500, signal, true);
        await this.#leases.extend(this.id, this.#lease.leaseToken, this.#seconds, { signal });
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#lost.abort(error);
      this.#release();
    }
  }
}

/** Acknowledges in one request what was processed while the last one was under way. */
class Acknowledger {
  readonly #leases: Leases;
  #waiting: { lease: Lease; resolve: () => void; reject: (error: unknown) => void }[] = [];
  #isSending = false;

  constructor(leases: Leases) {
    this.#leases = leases;
  }

  ack(lease: Lease): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ lease, resolve, reject });
      void this.#send();
    });
  }

  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    // For those that are acknowledged at the same time.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      try {
        const results = await this.#leases.ackBatch(batch.map(({ lease }) => lease));
        for (const [index, { lease, resolve, reject }] of batch.entries()) {
          if (results[index]?.result === 'acknowledged') resolve();
          else reject(leaseLost(lease));
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isSending = false;
  }
}

const MAX_BATCH = 1_000;

function leaseLost({ id }: Lease): ConflictError {
  const message = `The lease of ${id} has expired: the message may be delivered again.`;
  return new ConflictError({ message, code: 'lease_lost', status: 409 });
}
