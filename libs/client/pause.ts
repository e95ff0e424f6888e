import { RateLimitError } from './errors.js';
import { sleep, throwIfAborted } from './timing.js';

/** Keeps all calls of a client back once one of them was refused, so that they don't each earn a refusal. */
export class Pause {
  #error: RateLimitError | null = null;
  #beganAt = 0;
  #endsAt = 0;
  #probeAt = 0;
  #waiting = 0;

  get leftMs(): number {
    return this.#endsAt - performance.now();
  }

  begin(error: RateLimitError): void {
    const now = performance.now();
    this.#error = error;
    this.#beganAt = now;
    this.#endsAt = Math.max(this.#endsAt, now + (error.retryAfter ?? 0) * 1_000);
    this.#probeAt = now + PROBE_MS;
  }

  /** A request that was sent during the pause, at this time, was admitted. */
  succeeded(sentAt: number): void {
    if (sentAt > this.#beganAt) this.#endsAt = 0;
  }

  /** Resolves when a request may be sent. Throws what remains of the refusal if that is too late for this one. */
  async end(deadline: number, signal: AbortSignal | undefined): Promise<void> {
    throwIfAborted(signal);
    for (let left = this.leftMs; left > 0; left = this.leftMs) {
      const now = performance.now();
      // A limit can be raised and a ban be lifted: one request in a while finds out.
      if (now >= this.#probeAt) {
        this.#probeAt = now + PROBE_MS;
        return;
      }
      const roomMs = deadline - now - left;
      if (roomMs <= 0) throw this.#refusal(left);
      this.#waiting++;
      // The waiting requests continue one after another: the first ones may use up the window again.
      const spreadMs = Math.random() * Math.min(SPREAD_MS + this.#waiting * SPREAD_MS_EACH, roomMs / 2);
      await sleep(Math.min(left + spreadMs, PROBE_MS), signal).finally(() => this.#waiting--);
      if (performance.now() >= deadline) throw this.#refusal(this.leftMs);
    }
  }

  /** Of a call that was not sent: for each its own. */
  #refusal(leftMs: number): RateLimitError {
    const { message = '', code = 'rate_limit_exceeded' } = this.#error ?? {};
    const retryAfter = Math.max(0, Math.ceil(leftMs / 1_000));
    return new RateLimitError({ message, code, status: 429, retryAfter, cause: this.#error });
  }
}

const PROBE_MS = 60_000;
const SPREAD_MS = 1_000;
const SPREAD_MS_EACH = 2;
