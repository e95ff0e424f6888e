import type { INestApplicationContext } from '@nestjs/common';
import { Consumer } from '#delivery/delivery.module.js';
import { ClockWatch, CurrentQueue, OutboxRelay } from '#delivery/queue.module.js';
import { PostgresAvailability, PostgresMessages, SpaceWatch, StorageCap } from '#messages/messages.module.js';
import { ApplyRetention, JobFollower, QueueRecovery, Reconciler } from '#upkeep/upkeep.module.js';
import { EndDeliveries, WebhookSender } from '#webhooks/webhooks.module.js';
import type { Settings } from './settings.js';

const FOLLOW_EVERY_MS = 500;
const RECOVER_EVERY_MS = 1_000;
const END_DELIVERIES_EVERY_MS = 1_000;

/** What runs in the background of a process. It stops in an order in which nothing is lost. */
export class Background {
  constructor(
    private readonly app: INestApplicationContext,
    private readonly settings: Settings,
    private readonly role: 'api' | 'worker',
  ) {}

  async start(): Promise<void> {
    const { app, settings } = this;
    const clock = app.get(ClockWatch);
    const queue = app.get(CurrentQueue);
    await clock.start();
    app.get(OutboxRelay).startSweeping();
    app.get(StorageCap).start();
    await app.get(SpaceWatch).start();
    app.get(Reconciler).start(settings.reconcileIntervalMs, () => clock.isRight && queue.isCurrent);
    app.get(QueueRecovery).start(RECOVER_EVERY_MS);
    app.get(ApplyRetention).start();
    app.get(JobFollower).start(FOLLOW_EVERY_MS);
    if (this.role === 'worker') {
      app.get(Consumer).start();
      app.get(WebhookSender).start();
      app.get(EndDeliveries).start(END_DELIVERIES_EVERY_MS);
    }
  }

  async stop(): Promise<void> {
    const { app, settings } = this;
    await app.get(ClockWatch).close();
    if (this.role === 'worker') {
      await Promise.all([
        app.get(Consumer).close(settings.shutdownGraceMs),
        app.get(WebhookSender).close(settings.shutdownGraceMs),
        app.get(EndDeliveries).close(),
      ]);
    }
    await app.get(Reconciler).close();
    await app.get(QueueRecovery).close();
    await app.get(ApplyRetention).close();
    await app.get(JobFollower).close();
    await app.get(PostgresMessages).idle();
    await app.get(SpaceWatch).close();
    await app.get(StorageCap).close();
    await app.get(PostgresAvailability).close();
    await app.get(OutboxRelay).close();
  }
}
