import type { Metrics } from '#platform/management/metrics.js';
import type { Retained } from '../../application/apply-retention.js';

/** What was removed because it is old. */
export class RetentionMetrics {
  private readonly periods;
  private readonly failures;

  constructor(metrics: Metrics) {
    this.periods = metrics.counter('sluice_retention_removed_periods_total', 'Periods whose messages were removed');
    this.failures = metrics.counter('sluice_retention_failures_total', 'Rounds of the retention that failed');
  }

  ran(result: Retained | Error): void {
    if (result instanceof Error) this.failures.add();
    else this.periods.add(result.removed.length);
  }
}
