import type { Logger } from '#platform/observability/logging.js';
import type { DeletionObserver } from '../../application/delete-account.js';

export class DeletionLog implements DeletionObserver {
  constructor(private readonly logger: Logger) {}

  requested(accountId: string): void {
    this.logger.info({ accountId }, 'an operator has deleted an account');
  }

  finished(accountId: string): void {
    this.logger.info({ accountId }, 'everything that was stored of a deleted account is removed');
  }

  failed(error: unknown): void {
    this.logger.warn({ err: error }, 'what is stored of a deleted account could not be removed; trying again');
  }
}
