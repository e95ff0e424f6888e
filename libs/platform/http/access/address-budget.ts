import { LRUCache } from 'lru-cache';
import { atMost } from '#kernel/cache-size.js';
import { RetryLaterError } from '#kernel/domain-error.js';
import { seconds, tightest, type RateLimitWindow } from '#kernel/rate-limit-window.js';
import { networkOf } from './client-address.js';

/** Beyond this the least recently used addresses are dropped, so that memory stays bounded. */
const MAX_ADDRESSES = 100_000;
/** Some customers have a /48, which contains 65,536 of these. A whole /48 has this many times the budget of a /64. */
const WIDE_IPV6_PREFIX = 48;
const WIDE_FACTOR = 10;

interface Counter {
  readonly key: string;
  readonly limit: number;
  readonly endsAt: number;
  used: number;
}

/** @param reason a sentence */
export function rateLimitExceeded(reason: string, retryInMs: number): RetryLaterError {
  const retryAfter = seconds(retryInMs);
  return new RetryLaterError('rate_limit_exceeded', `${reason} Retry after ${retryAfter} s.`, retryAfter);
}

/** Fixed windows by IP address, local to this process. */
export class AddressBudget {
  private readonly counters: LRUCache<string, Counter>;

  constructor(
    private readonly name: string,
    private readonly limit: number,
    private readonly windowSeconds: number,
  ) {
    this.counters = new LRUCache(atMost(MAX_ADDRESSES));
  }

  /** Counts one request if the budget allows it. */
  take(address: string): { readonly passes: boolean; readonly window: RateLimitWindow } {
    const counters = this.countersOf(address);
    const passes = counters.every(({ used, limit }) => used < limit);
    if (passes) {
      for (const counter of counters) {
        counter.used++;
        this.counters.set(counter.key, counter);
      }
    }
    return { passes, window: this.view(counters) };
  }

  /** Gives back a request that was counted for an operation that failed. */
  giveBack(address: string): void {
    for (const counter of this.countersOf(address)) if (counter.used > 0) counter.used--;
  }

  peek(address: string): RateLimitWindow {
    return this.view(this.countersOf(address));
  }

  private countersOf(address: string): Counter[] {
    const key = networkOf(address);
    const counter = this.counter(key, this.limit);
    if (!key.includes('/')) return [counter];
    return [counter, this.counter(networkOf(address, WIDE_IPV6_PREFIX), this.limit * WIDE_FACTOR)];
  }

  private counter(key: string, limit: number): Counter {
    const now = performance.now();
    const counter = this.counters.get(key);
    if (counter !== undefined && counter.endsAt > now) return counter;
    return { key, limit, endsAt: now + this.windowSeconds * 1_000, used: 0 };
  }

  private view(counters: readonly Counter[]): RateLimitWindow {
    const windows = counters.map(({ used, limit, endsAt }) => ({
      name: this.name,
      windowSeconds: this.windowSeconds,
      limit,
      remaining: limit - used,
      resetsAt: endsAt,
    }));
    return windows.reduce((one, other) => tightest([one, other]) ?? one);
  }
}
