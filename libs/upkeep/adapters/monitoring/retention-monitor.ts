import type { Logger } from '#platform/observability/logging.js';
import type { Metrics } from '#platform/observability/metrics.js';
import type { Retained, RetentionObserver } from '../../application/apply-retention.js';

export class RetentionMonitor implements RetentionObserver {
  private readonly periods;
  private readonly failures;

  constructor(
    metrics: Metrics,
    private readonly logger: Logger,
  ) {
    this.periods = metrics.counter('sluice_retention_removed_periods_total', 'Periods whose messages were removed');
    this.failures = metrics.counter('sluice_retention_failures_total', 'Retention runs that failed');
  }

  ran(result: Retained | Error): void {
    if (result instanceof Error) {
      this.failures.add();
      this.logger.warn({ err: result }, 'removing old messages failed');
      return;
    }
    this.periods.add(result.removed.length);
    if (result.removed.length + result.stragglers > 0) this.logger.info(result, 'old messages removed');
  }
}
