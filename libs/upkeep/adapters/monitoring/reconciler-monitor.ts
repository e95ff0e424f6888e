import { RareWarnings, type Logger } from '#platform/observability/logging.js';
import type { Metrics } from '#platform/observability/metrics.js';
import type { FollowerObserver } from '../../application/job-follower.js';
import type { QueueRecoveryObserver } from '../../application/queue-recovery.js';
import { STEPS, type Reconciled, type ReconcilerObserver } from '../../application/reconciler.js';

/** The steps of the reconciler, taking its turn, and what the follower and the recovery do. */
const FAILING = [...STEPS, 'turn', 'follow_jobs', 'recover'] as const;
type Failing = (typeof FAILING)[number];

export class ReconcilerMonitor implements ReconcilerObserver, FollowerObserver, QueueRecoveryObserver {
  private readonly requeued;
  private readonly followed;
  private readonly failures;
  private readonly warnings;

  constructor(
    metrics: Metrics,
    private readonly logger: Logger,
  ) {
    this.requeued = metrics.counter('sluice_reconciler_healed_strays_total', 'Stray messages that were requeued');
    this.followed = metrics.counter(
      'sluice_reconciler_followed_jobs_total',
      'Messages that were updated because a worker of another program had ended their job',
    );
    this.warnings = new RareWarnings(logger);
    this.failures = metrics.counters(
      'sluice_reconciler_failures_total',
      'Steps of the reconciler that failed',
      'step',
      FAILING,
    );
  }

  healed(what: Reconciled): void {
    this.requeued.add(what.requeued);
    this.followed.add(what.followed);
    if (what.requeued > 0) this.logger.warn(what, 'stray messages requeued');
  }

  failed(step: Failing, error: unknown): void {
    this.failures[step].add();
    this.warnings.warn({ err: error, step }, 'reconciling failed', step);
  }

  currentQueueChanged(isOurs: boolean): void {
    if (isOurs) this.logger.info('the queue of this process is the current one again');
    else
      this.logger.error(
        'a process that started later uses a different queue: this process adds no jobs. Give all processes the same REDIS_URL, REDIS_TOPOLOGY and QUEUE_SHARDS',
      );
  }

  recovering(): void {
    this.logger.warn('the queue was replaced or has lost its data: checking all open messages');
  }

  recovered(): void {
    this.logger.info('all open messages are in the queue');
  }

  recoveryFailed(error: unknown): void {
    this.failed('recover', error);
  }

  followingFailed(error: unknown): void {
    this.failed('follow_jobs', error);
  }
}
