import type { EventEmitter } from 'node:events';

/** The maximum number of requests that start in one iteration of the event loop after a connection was accepted. */
const AT_ONCE = 2;
/** The maximum number of waiting requests that start in one iteration when no more connections are being accepted. */
const AT_ONCE_AFTERWARDS = 100;

/**
 * Keeps the iterations of the event loop short while connections wait to be accepted. Node.js accepts one in each
 * iteration, so that beside a thousand busy connections, whose requests together take a tenth of a second or more, new
 * connections would wait for seconds. Once a connection has been accepted, only a few requests start in each iteration,
 * until an iteration passes without a new connection. The other requests wait in a queue that serves callers
 * round-robin.
 * p-queue and p-limit bound what is in progress, not what starts in an iteration of the event loop.
 */
export class RequestQueue {
  /** The waiting requests of each caller; the caller that is served next comes first. */
  private readonly waiting = new Map<string, Set<() => void>>();
  /** How many more requests may start in this iteration. */
  private slots = Infinity;
  private hasAccepted = false;

  /** @param server emits `connection` when it has accepted one */
  constructor(server: EventEmitter) {
    server.on('connection', () => {
      this.hasAccepted = true;
      if (this.slots !== Infinity) return;
      this.slots = AT_ONCE;
      setImmediate(this.startIteration);
    });
  }

  /**
   * Starts a request now, or after the earlier ones of its caller in a later iteration.
   * @param client emits `close` when nobody waits for the response any more
   */
  run(caller: string, client: EventEmitter, start: () => void): void {
    if (this.slots > 0) {
      this.slots--;
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
    this.slots = this.hasAccepted ? AT_ONCE : this.waiting.size > 0 ? AT_ONCE_AFTERWARDS : Infinity;
    if (this.slots !== Infinity) setImmediate(this.startIteration);
    this.hasAccepted = false;
    const next: (() => void)[] = [];
    for (const [caller, own] of this.waiting) {
      if (next.length === this.slots) break;
      for (const start of own) {
        next.push(start);
        own.delete(start);
        break;
      }
      this.waiting.delete(caller);
      // Moves the caller behind the others.
      if (own.size > 0) this.waiting.set(caller, own);
    }
    this.slots -= next.length;
    for (const start of next) start();
  };
}
