import type { BackgroundTask } from '#kernel/background-task.js';
import type { Bans } from './bans.js';
import type { Limiter } from './limiter.js';

/** Deletes windows and bans that have expired. The next run deletes the rows that could not be deleted. */
export class ExpiredLimits implements BackgroundTask {
  readonly intervalMs = 600_000;

  constructor(
    private readonly bans: Pick<Bans, 'deleteExpired'>,
    private readonly limiter: Pick<Limiter, 'deleteExpired'>,
  ) {}

  run(): Promise<unknown> {
    return Promise.allSettled([this.bans.deleteExpired(), this.limiter.deleteExpired()]);
  }
}
