import type { Logger } from '#platform/logging.js';
import type { Metrics } from '#platform/management/metrics.js';
import type { StorageObserver } from '../../application/storage-cap.js';

export class StorageMonitor implements StorageObserver {
  private readonly refusals;

  constructor(
    metrics: Metrics,
    private readonly logger: Logger,
  ) {
    this.refusals = metrics.counter(
      'sluice_storage_refusals_total',
      'Requests that were refused because their account has reached its storage limit',
    );
  }

  refused(): void {
    this.refusals.add();
  }

  failed(error: unknown): void {
    this.logger.warn({ err: error }, 'counting stored bytes failed');
  }
}
