/** Milliseconds that it takes at most in each turn of the event loop: never less, and never more. */
const LEAST_MS = 1;
const MOST_MS = 20;
/** In between, its share of the time that everything else took in the turn before. What is served comes first. */
const SHARE = 0.1;

/**
 * Does what comes for some time in each turn of the event loop, and the rest in the next ones, so that it can't keep the
 * loop from everything else. It is for answers that bring the next request of the same connection at once: with enough
 * of those, libuv would go on polling, and nothing else be done.
 */
export class Turns {
  private readonly due: (() => void)[] = [];
  private scheduled = false;
  private since = 0;
  private spentMs = 0;
  private budgetMs = LEAST_MS;

  /** Does it at once, or as soon as it is its turn. */
  do(work: () => void): void {
    if (this.due.length === 0 && this.spentMs < this.budgetMs) this.run(work);
    else this.due.push(work);
    if (this.scheduled) return;
    this.scheduled = true;
    this.since = performance.now();
    setImmediate(this.turn);
  }

  private run(work: () => void): void {
    const begunAt = performance.now();
    work();
    this.spentMs += performance.now() - begunAt;
  }

  private readonly turn = (): void => {
    const now = performance.now();
    const elseMs = now - this.since - this.spentMs;
    this.budgetMs = Math.min(MOST_MS, Math.max(LEAST_MS, SHARE * elseMs));
    this.since = now;
    this.spentMs = 0;
    let done = 0;
    for (; done < this.due.length && this.spentMs < this.budgetMs; done++) this.run(this.due[done] as () => void);
    this.due.splice(0, done);
    this.scheduled = this.due.length > 0;
    if (this.scheduled) setImmediate(this.turn);
  };
}
