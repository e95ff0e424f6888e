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

  ran({ faults, ...done }: Retained): void {
    if (faults.length > 0) this.failures.add();
    for (const err of faults) this.logger.warn({ err }, 'removing old messages failed');
    this.periods.add(done.removed.length);
    if (done.removed.length + done.stragglers > 0) this.logger.info(done, 'old messages removed');
  }
}
