import type { Logger } from '#platform/observability/logging.js';
import type { Metrics } from '#platform/observability/metrics.js';
import type { SpaceObserver } from '../../application/storage/space-watch.js';
import type { StorageObserver } from '../../application/storage/storage-cap.js';

export class StorageMonitor implements StorageObserver, SpaceObserver {
  private readonly refusals;

  constructor(
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {
    this.refusals = metrics.counter(
      'sluice_storage_refusals_total',
      'Requests that were refused because their account has reached its storage limit',
    );
  }

  watch(left: () => number): void {
    this.metrics.gauge(
      'sluice_space_left_bytes',
      'Bytes that the database may still grow by before new messages are refused; +Inf without a limit',
      left,
    );
  }

  changed(isFull: boolean): void {
    if (isFull)
      this.logger.error('new messages are refused: too little space is left (MAX_DATABASE_MB, MIN_FREE_DISK_MB)');
    else this.logger.info('new messages are accepted again: there is space');
  }

  refused(): void {
    this.refusals.add();
  }

  failed(error: unknown): void {
    this.logger.warn({ err: error }, 'measuring storage failed');
  }
}
