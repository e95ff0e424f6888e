import type { Metrics } from '#platform/management/metrics.js';
import type { Reconciled } from '../../application/reconciler.js';

/** What was left behind and had to be put right. */
export class ReconcilerMetrics {
  private readonly healed;
  private readonly followed;
  private readonly failures;

  constructor(metrics: Metrics) {
    this.healed = metrics.counter(
      'sluice_reconciler_healed_strays_total',
      'Messages that nothing would have delivered and that were put on their way again',
    );
    this.followed = metrics.counter(
      'sluice_reconciler_followed_jobs_total',
      "Messages whose status followed a job that another program's worker had ended",
    );
    this.failures = metrics.counter('sluice_reconciler_failures_total', 'Rounds of the reconciler that failed');
  }

  ran(result: Reconciled | Error): void {
    if (result instanceof Error) this.failures.add();
    else {
      this.healed.add(result.requeued);
      this.followed.add(result.followed);
    }
  }
}
