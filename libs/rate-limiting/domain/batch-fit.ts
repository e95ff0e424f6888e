import { DomainError } from '#kernel/domain-error.js';

/**
 * A batch counts one request for each message, all of them in the same windows.
 * @param limit the lowest limit of these windows
 * @throws DomainError `batch_exceeds_limit` for a batch that does not fit even into unused windows
 */
export function assertBatchFits(messages: number, limit: number): void {
  if (messages <= limit) return;
  throw new DomainError(
    'batch_exceeds_limit',
    `Your plan allows at most ${limit} messages per batch. Send smaller batches.`,
  );
}
