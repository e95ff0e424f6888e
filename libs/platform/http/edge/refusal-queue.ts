/** The time that refusals may take in one iteration of the event loop. */
const MIN_BUDGET_MS = 1;
const MAX_BUDGET_MS = 20;
/** Between these bounds, the budget is this share of the time that everything else took in the iteration before. */
const SHARE = 0.1;

/**
 * Bounds the time that refusals take in each iteration of the event loop; the rest wait for the next iterations. A
 * client that is refused sends its next request immediately, so a flood would otherwise delay every other request.
 * Bottleneck and p-queue bound a rate by the clock, not a share of an iteration.
 */
export class RefusalQueue {
  private readonly waiting: (() => void)[] = [];
  private scheduled = false;
  private iterationStartedAt = 0;
  private spentMs = 0;
  private budgetMs = MIN_BUDGET_MS;

  /** Runs a refusal now, or when the earlier ones have run and there is time for it. */
  run(refuse: () => void): void {
    if (this.waiting.length === 0 && this.spentMs < this.budgetMs) this.measure(refuse);
    else this.waiting.push(refuse);
    if (this.scheduled) return;
    this.scheduled = true;
    this.iterationStartedAt = performance.now();
    setImmediate(this.startIteration);
  }

  private measure(refuse: () => void): void {
    const startedAt = performance.now();
    refuse();
    this.spentMs += performance.now() - startedAt;
  }

  private readonly startIteration = (): void => {
    const now = performance.now();
    const elseMs = now - this.iterationStartedAt - this.spentMs;
    this.budgetMs = Math.min(MAX_BUDGET_MS, Math.max(MIN_BUDGET_MS, SHARE * elseMs));
    this.iterationStartedAt = now;
    this.spentMs = 0;
    let done = 0;
    for (; done < this.waiting.length && this.spentMs < this.budgetMs; done++)
      this.measure(this.waiting[done] as () => void);
    this.waiting.splice(0, done);
    this.scheduled = this.waiting.length > 0;
    if (this.scheduled) setImmediate(this.startIteration);
  };
}
