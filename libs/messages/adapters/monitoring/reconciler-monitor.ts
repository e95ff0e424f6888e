import type { Logger } from '#platform/logging.js';
import type { Metrics } from '#platform/management/metrics.js';
import type { FollowerObserver } from '../../application/job-follower.js';
import type { Reconciled, ReconcilerObserver } from '../../application/reconciler.js';

export class ReconcilerMonitor implements ReconcilerObserver, FollowerObserver {
  private readonly requeued;
  private readonly followed;
  private readonly failures;

  constructor(
    metrics: Metrics,
    private readonly logger: Logger,
  ) {
    this.requeued = metrics.counter('sluice_reconciler_healed_strays_total', 'Stray messages that were requeued');
    this.followed = metrics.counter(
      'sluice_reconciler_followed_jobs_total',
      'Messages that were updated because a worker of another program had ended their job',
    );
    this.failures = metrics.counter('sluice_reconciler_failures_total', 'Runs of the reconciler that failed');
  }

  ran(result: Reconciled | Error): void {
    if (result instanceof Error) {
      this.failures.add();
      this.logger.warn({ err: result }, 'reconciling failed');
      return;
    }
    this.requeued.add(result.requeued);
    this.followed.add(result.followed);
    if (result.requeued > 0) this.logger.warn(result, 'stray messages requeued');
  }

  followingFailed(error: unknown): void {
    this.logger.warn({ err: error }, 'following jobs failed');
  }
}
