import type { Availability } from '#messages/index.js';

/** Requests of an account that may wait in one process. Each holds a connection, which others need as well. */
const MAX_WAITING = 1_000;
/** How soon a request searches again when all available messages are locked by other requests. */
const CONTENDED_MS = 250;
/** Searches of one account that may begin before others have ended. */
const SEARCHES_AT_ONCE = 2;
/** How soon another request searches after a search has failed. */
const RECOVERING_MS = 1_000;
/** A timer can't wait for longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface WaitingObserver {
  /** Passes a function that returns how many requests wait. */
  watch(waiting: () => number): void;
}

/** How a request looks for messages. */
export interface Search<Found> {
  /** @returns null when there is nothing */
  attempt(): Promise<Found | null>;
  /** Whether there may be more than was found. */
  mayBeMore(found: Found): boolean;
  /** Milliseconds after which what was found may be available again. */
  readonly leaseMs: number;
  /** Milliseconds until something is available; null when nothing is to come by itself. */
  nextIn(): Promise<number | null>;
}

/** A request that waits. */
class Waiter {
  /** Null while it searches. */
  private endSleep: (() => void) | null = null;

  /** @param again whether it searches before it sleeps */
  constructor(private again: boolean) {}

  /** Something was announced: it searches, once more if it is searching. */
  announce(): void {
    this.again = true;
    this.wake();
  }

  /** Whether something was announced since its last search began. */
  hasToSearch(): boolean {
    return this.again;
  }

  beginSearch(): void {
    this.again = false;
  }

  wake(): void {
    this.endSleep?.();
  }

  sleep(ms: number, gone: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        gone.removeEventListener('abort', end);
        this.endSleep = null;
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.endSleep = end;
      gone.addEventListener('abort', end);
    });
  }
}

/** The requests of an account that wait, the oldest first. */
interface Line {
  readonly waiters: Set<Waiter>;
  searching: number;
  timer: NodeJS.Timeout | undefined;
  /** When the timer fires, in milliseconds of `performance.now()`. */
  timerAt: number;
  /** Nothing was there when a waiter last looked, and nothing was announced since. */
  isEmpty: boolean;
}

/**
 * Requests that wait for messages of their account. A waiting request runs no statements: an announcement wakes the
 * oldest request of the account, which wakes the next one if there may be more messages than it takes.
 */
export class WaitingLeases {
  private readonly lines = new Map<string, Line>();
  private waiting = 0;
  private closed = false;

  constructor(availability: Pick<Availability, 'listen'>, observer: WaitingObserver) {
    observer.watch(() => this.waiting);
    availability.listen((accountIds) => {
      for (const accountId of accountIds === 'all' ? this.lines.keys() : accountIds) this.wakeNext(accountId);
    });
  }

  /**
   * Searches until something is found, for `waitMs` at most.
   * @param gone aborts when the client no longer waits
   * @returns null when nothing was found
   */
  async search<Found>(
    accountId: string,
    waitMs: number,
    gone: AbortSignal,
    search: Search<Found>,
  ): Promise<Found | null> {
    const line = this.lines.get(accountId) ?? newLine();
    if (waitMs === 0 || this.closed || line.waiters.size >= MAX_WAITING) return search.attempt();
    const deadline = performance.now() + waitMs;
    // While others search, it sleeps: they wake it if there may be more than they take.
    const waiter = new Waiter(!line.isEmpty && line.searching < SEARCHES_AT_ONCE);
    this.lines.set(accountId, line);
    line.waiters.add(waiter);
    this.waiting++;
    try {
      while (!gone.aborted) {
        if (waiter.hasToSearch()) {
          waiter.beginSearch();
          line.searching++;
          const found = await search.attempt().finally(() => line.searching--);
          if (found !== null) {
            if (search.mayBeMore(found)) waiter.announce();
            this.wakeIn(search.leaseMs, accountId, line);
            return found;
          }
          if (!waiter.hasToSearch()) await this.expectNext(accountId, line, search);
        }
        const restMs = deadline - performance.now();
        if (restMs <= 0 || this.isClosed()) break;
        if (!waiter.hasToSearch()) await waiter.sleep(restMs, gone);
      }
      return null;
    } catch (error) {
      // The messages that this request would have got are still there: another one searches, after a while.
      setTimeout(() => {
        this.wakeNext(accountId);
      }, RECOVERING_MS).unref();
      throw error;
    } finally {
      this.leave(accountId, line, waiter);
    }
  }

  /** Ends all waits, and those to come: each gets what is there. */
  close(): void {
    this.closed = true;
    for (const { waiters } of this.lines.values()) for (const waiter of waiters) waiter.wake();
  }

  private isClosed(): boolean {
    return this.closed;
  }

  private async expectNext<Found>(accountId: string, line: Line, search: Search<Found>): Promise<void> {
    line.isEmpty = true;
    const nextMs = await search.nextIn();
    if (nextMs === null) return;
    this.wakeIn(nextMs === 0 ? CONTENDED_MS : nextMs, accountId, line);
  }

  /** Wakes a waiting request then, unless one is woken before. */
  private wakeIn(ms: number, accountId: string, line: Line): void {
    const inMs = Math.min(Math.ceil(ms), MAX_TIMER_MS);
    const at = performance.now() + inMs;
    if (at >= line.timerAt || !this.lines.has(accountId)) return;
    clearTimeout(line.timer);
    line.timerAt = at;
    line.timer = setTimeout(() => {
      line.timerAt = Infinity;
      this.wakeNext(accountId);
    }, inMs);
  }

  private wakeNext(accountId: string): void {
    const line = this.lines.get(accountId);
    const [oldest] = line?.waiters ?? [];
    if (line === undefined || oldest === undefined) return;
    line.isEmpty = false;
    oldest.announce();
  }

  private leave(accountId: string, line: Line, waiter: Waiter): void {
    this.waiting--;
    line.waiters.delete(waiter);
    if (line.waiters.size === 0) {
      clearTimeout(line.timer);
      this.lines.delete(accountId);
    } else if (waiter.hasToSearch()) {
      this.wakeNext(accountId);
    }
  }
}

function newLine(): Line {
  return { waiters: new Set(), searching: 0, timer: undefined, timerAt: Infinity, isEmpty: false };
}
