import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { PeriodicTask } from '#kernel/periodic-task.js';
import type { Database } from '#platform/database/database.js';
import type { Bans } from '../../application/bans.js';
import type { PostgresLimiter } from './postgres-limiter.js';

const EVERY_MS = 600_000;

/** Deletes expired windows and bans, and stores the last strikes before the counters' connections close. */
export class LimiterMaintenance implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly task: PeriodicTask;

  constructor(
    bans: Bans,
    private readonly storage: PostgresLimiter,
    private readonly counters: Database,
  ) {
    // What could not be deleted is deleted by the next run.
    this.task = new PeriodicTask(() => Promise.allSettled([bans.deleteExpired(), storage.deleteExpired()]));
  }

  onApplicationBootstrap(): void {
    this.task.start(EVERY_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.task.close(), this.storage.close()]);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.counters.close();
  }
}
