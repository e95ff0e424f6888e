import type { JobDispatch } from '../delivering/job-dispatch.js';
import type { MessageFilter, Messages } from '../messages.js';
import { requireOrdered } from './time-span.js';

/** Messages that one call cancels at most: without a bound, it would not end while others send faster. */
export const MAX_CANCELLED = 1_000_000;
/** Jobs that are removed at the same time. */
const REMOVED_AT_ONCE = 20;

/** Cancels all queued messages that a filter selects. */
export class CancelQueued {
  constructor(
    private readonly messages: Messages,
    private readonly jobs: Pick<JobDispatch, 'remove'>,
  ) {}

  /**
   * @returns how many, at most `MAX_CANCELLED` of the oldest
   * @throws ValidationError when `until` is not after `since`
   * @throws DomainError `unavailable`
   */
  async execute(accountId: string, filter: MessageFilter): Promise<number> {
    requireOrdered(filter);
    let isQueueAway = false;
    return this.messages.cancelQueued(accountId, filter, MAX_CANCELLED, async (jobIds) => {
      for (let start = 0; start < jobIds.length && !isQueueAway; start += REMOVED_AT_ONCE) {
        const some = jobIds.slice(start, start + REMOVED_AT_ONCE);
        // As for one message: a worker of Sluice skips a job that stays.
        await Promise.all(some.map((id) => this.jobs.remove(id))).catch(() => (isQueueAway = true));
      }
    });
  }
}
