import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { ClockWatch } from '#platform/database/clock-watch.js';
import type { Settings } from '#platform/process/settings.js';
import type { Consumer } from '#delivery/adapters/bullmq/consumer.js';
import type { PostgresAvailability } from './adapters/postgres/postgres-availability.js';
import type { PostgresMessages } from './adapters/postgres/postgres-messages.js';
import type { ApplyRetention } from '#upkeep/application/apply-retention.js';
import type { CurrentQueue } from '#delivery/application/current-queue.js';
import type { JobFollower } from '#delivery/application/job-follower.js';
import type { OutboxRelay } from '#delivery/application/outbox-relay.js';
import type { QueueRecovery } from '#upkeep/application/queue-recovery.js';
import type { Reconciler } from '#upkeep/application/reconciler.js';
import type { SpaceWatch } from './application/space-watch.js';
import type { StorageCap } from './application/storage-cap.js';

const FOLLOW_EVERY_MS = 500;
const RECOVER_EVERY_MS = 1_000;

/** Starts what runs in the background, and stops it in an order in which nothing is lost. */
export class Lifecycle implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    private readonly settings: Settings,
    private readonly messages: PostgresMessages,
    private readonly cap: StorageCap,
    private readonly space: SpaceWatch,
    private readonly relay: OutboxRelay,
    private readonly availability: PostgresAvailability,
    private readonly reconciler: Reconciler,
    private readonly currentQueue: CurrentQueue,
    private readonly recovery: QueueRecovery,
    private readonly retention: ApplyRetention,
    private readonly follower: JobFollower,
    private readonly clockWatch: ClockWatch,
    private readonly consumer: Consumer | null = null,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.clockWatch.start();
    this.relay.startSweeping();
    this.cap.start();
    await this.space.start();
    const mayRun = () => this.clockWatch.isRight && this.currentQueue.isCurrent;
    this.reconciler.start(this.settings.reconcileIntervalMs, mayRun);
    this.recovery.start(RECOVER_EVERY_MS);
    this.retention.start();
    this.follower.start(FOLLOW_EVERY_MS);
    this.consumer?.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.clockWatch.close();
    await this.consumer?.close(this.settings.shutdownGraceMs);
    await this.reconciler.close();
    await this.recovery.close();
    await this.retention.close();
    await this.follower.close();
    await this.messages.idle();
    await this.space.close();
    await this.cap.close();
    await this.availability.close();
    await this.relay.close();
  }
}
