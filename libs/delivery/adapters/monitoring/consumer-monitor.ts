import { RareWarnings, type Logger } from '#platform/observability/logging.js';
import type { ConsumerObserver } from '../../application/job-queue.js';

export class ConsumerMonitor implements ConsumerObserver {
  private readonly warnings;

  constructor(private readonly logger: Logger) {
    this.warnings = new RareWarnings(logger);
  }

  failed(error: unknown, what: string): void {
    this.warnings.warn({ err: error }, what);
  }

  stuck(): void {
    this.logger.error('no jobs are taken although jobs are waiting and slots are free');
  }
}
