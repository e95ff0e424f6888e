import { normalizeIp } from '@nestjs/throttler';
import { LRUCache } from 'lru-cache';
import { RetryLaterError } from '#kernel/domain-error.js';
import { seconds, type RateLimitWindow } from './rate-limit-headers.js';

/** Beyond this the least recently used addresses are dropped, so that memory stays bounded. */
const MAX_ADDRESSES = 100_000;
/** An IPv6 customer has a whole /64; a budget for each of its addresses would be none. */
const IPV6_PREFIX = 64;

interface Counter {
  used: number;
  readonly endsAt: number;
}

/** @param what the subject of the sentence "… are used up." */
export function rateLimitExceeded(what: string, retryInMs: number): RetryLaterError {
  const retryAfter = seconds(retryInMs);
  return new RetryLaterError('rate_limit_exceeded', `${what} are used up. Retry after ${retryAfter} s.`, retryAfter);
}

/** Fixed windows by IP address, local to this process. */
export class AddressBudget {
  private readonly counters: LRUCache<string, Counter>;

  constructor(
    private readonly name: string,
    private readonly limit: number,
    private readonly windowSeconds: number,
  ) {
    this.counters = new LRUCache({ max: MAX_ADDRESSES });
  }

  /** Counts one request if the budget allows it. */
  take(address: string): { readonly passes: boolean; readonly window: RateLimitWindow } {
    const counter = this.counter(address);
    const passes = counter.used < this.limit;
    if (passes) counter.used++;
    return { passes, window: this.view(counter) };
  }

  /** Returns one that was counted for an operation that failed. */
  giveBack(address: string): void {
    const counter = this.counter(address);
    if (counter.used > 0) counter.used--;
  }

  peek(address: string): RateLimitWindow {
    return this.view(this.counter(address));
  }

  private counter(address: string): Counter {
    const key = normalizeIp(address, IPV6_PREFIX);
    const now = performance.now();
    let counter = this.counters.get(key);
    if (counter === undefined || counter.endsAt <= now) {
      counter = { used: 0, endsAt: now + this.windowSeconds * 1_000 };
      this.counters.set(key, counter);
    }
    return counter;
  }

  private view({ used, endsAt }: Counter): RateLimitWindow {
    return {
      name: this.name,
      windowSeconds: this.windowSeconds,
      limit: this.limit,
      remaining: this.limit - used,
      resetsInMs: endsAt - performance.now(),
    };
  }
}
