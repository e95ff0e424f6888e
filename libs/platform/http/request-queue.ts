import type { EventEmitter } from 'node:events';

/** Requests that may start in an iteration of the event loop after a connection was accepted. */
const AT_ONCE = 2;

/**
 * Keeps the iterations of the event loop short while connections wait to be accepted. Node.js accepts one in each
 * iteration, so that beside a thousand busy connections, whose requests together take a tenth of a second or more, new
 * ones would wait for seconds. An accepted connection is the sign that others may wait: until an iteration passes
 * without one, few requests start at once and the others wait in order.
 */
export class RequestQueue {
  private readonly waiting: (() => void)[] = [];
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

  /** Starts a request now, or after the earlier ones in a later iteration. */
  run(start: () => void): void {
    if (this.places === 0) {
      this.waiting.push(start);
      return;
    }
    this.places--;
    start();
  }

  private readonly startIteration = (): void => {
    this.places = this.hasAccepted ? AT_ONCE : Infinity;
    if (this.hasAccepted) setImmediate(this.startIteration);
    this.hasAccepted = false;
    const next = this.waiting.splice(0, this.places);
    this.places -= next.length;
    for (const start of next) start();
  };
}
