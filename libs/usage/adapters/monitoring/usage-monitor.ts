import type { Logger } from '#platform/observability/logging.js';
import type { UsageObserver } from '../../application/count-usage.js';

export class UsageMonitor implements UsageObserver {
  constructor(private readonly logger: Logger) {}

  delayed(): void {
    this.logger.warn('usage is not counted: a transaction that has changed messages does not end');
  }

  failed(error: unknown): void {
    this.logger.warn({ err: error }, 'counting usage failed');
  }
}
