import type { EventEmitter } from 'node:events';

/** Requests that may start in an iteration of the event loop after a connection was accepted. */
const AT_ONCE = 2;
/** The same of those that wait, once no connection is accepted any more. */
const AT_ONCE_AFTERWARDS = 100;

/**
 * Keeps the iterations of the event loop short while connections wait to be accepted. Node.js accepts one in each
 * iteration, so that beside a thousand busy connections, whose requests together take a tenth of a second or more, new
 * ones would wait for seconds. An accepted connection is the sign that others may wait: until an iteration passes
 * without one, few requests start at once. The callers of the others take turns, so that none waits for all of another's.
 * p-queue and p-limit bound what is in progress, not what starts in an iteration of the event loop.
 */
export class RequestQueue {
  /** Of each caller that has some, the next one first. */
  private readonly waiting = new Map<string, Set<() => void>>();
  /** Requests that may still start in this iteration. */
  private places = Infinity;
  private hasAccepted = false;

  /** @param server emits `connection` when it has accepted one */
  constructor(server: EventEmitter) {
    server.on('connection', () => {
      this.hasAccepted = true;
      if (this.places !== Infinity) return;
      this.places = AT_ONCE;
      setImmediate(this.startIteration);
    });
  }

  /**
   * Starts a request now, or after the earlier ones of its caller in a later iteration.
   * @param client emits `close` when nobody waits for the response any more
   */
  run(caller: string, client: EventEmitter, start: () => void): void {
    if (this.places > 0) {
      this.places--;
      start();
      return;
    }
    const own = this.waiting.get(caller) ?? new Set();
    this.waiting.set(caller, own.add(start));
    client.once('close', () => {
      if (own.delete(start) && own.size === 0) this.waiting.delete(caller);
    });
  }

  private readonly startIteration = (): void => {
    this.places = this.hasAccepted ? AT_ONCE : this.waiting.size > 0 ? AT_ONCE_AFTERWARDS : Infinity;
    if (this.places !== Infinity) setImmediate(this.startIteration);
    this.hasAccepted = false;
    const next: (() => void)[] = [];
    for (const [caller, own] of this.waiting) {
      if (next.length === this.places) break;
      for (const start of own) {
        next.push(start);
        own.delete(start);
        break;
      }
      this.waiting.delete(caller);
      // The loop gets to it again, after the others.
      if (own.size > 0) this.waiting.set(caller, own);
    }
    this.places -= next.length;
    for (const start of next) start();
  };
}
