/** Milliseconds that it takes at least in each turn of the event loop, if there is so much to do, and at most. */
const LEAST_MS = 1;
const MOST_MS = 20;
/** In between, its share of the time that everything else has taken since the last time. */
const SHARE = 0.5;

/**
 * Does what is due in turns of the event loop, for some time in each, so that it can't keep the loop from the rest. It
 * is for answers that bring the next request of the same connection at once: with enough of those, nothing else is done.
 */
export class Turns {
  private readonly due: (() => void)[] = [];
  private endedAt = performance.now();

  add(work: () => void): void {
    if (this.due.push(work) === 1) setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    const begunAt = performance.now();
    const elseMs = begunAt - this.endedAt;
    const until = begunAt + Math.min(MOST_MS, Math.max(LEAST_MS, SHARE * elseMs));
    let done = 0;
    do this.due[done++]?.();
    while (done < this.due.length && performance.now() < until);
    this.due.splice(0, done);
    if (this.due.length > 0) setImmediate(this.turn);
    this.endedAt = performance.now();
  };
}
