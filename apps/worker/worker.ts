import { Consumer, DeliveryModule, type HandlerModule } from '#delivery/delivery.module.js';
import type { MessageHandler } from '#delivery/index.js';
import {
  ClockWatch,
  CurrentQueue,
  JobQueue,
  openQueuePages,
  QueueConnection,
  QueueModule,
} from '#delivery/queue.module.js';
import { EventsModule } from '#events/events.module.js';
import { MessagesModule } from '#messages/messages.module.js';
import type { Logger } from '#platform/observability/logging.js';
import type { Metrics } from '#platform/observability/metrics.js';
import { PullModule } from '#pull/pull.module.js';
import { UpkeepModule } from '#upkeep/upkeep.module.js';
import { UsageModule } from '#usage/usage.module.js';
import { SendingModule } from '#webhooks/sending.module.js';
import { Background } from '../background.js';
import { openParts, startContext } from '../context.js';
import { startManaged, type ManagedProcess } from '#platform/process/managed-process.js';
import type { Settings } from '../settings.js';

interface RunningWorker extends ManagedProcess {
  /** Takes no more jobs, finishes those in progress, closes. */
  stop(): Promise<void>;
}

/**
 * Starts consuming.
 * @param handler handles each message, or a module that exports such a handler; null only logs deliveries
 * @param migrate migrates the schema, if that is not done already
 */
export function startWorker(
  settings: Settings,
  logger: Logger,
  handler: MessageHandler | HandlerModule | null = null,
  migrate?: () => Promise<void>,
): Promise<RunningWorker> {
  const start = async (metrics: Metrics) => {
    const parts = await openParts(settings, logger, 'worker', metrics);
    const queue = QueueModule.forWorker(settings);
    const messages = MessagesModule.forWorker(queue);
    const pull = PullModule.forWorker(messages);
    const events = EventsModule.forWorker();
    const usage = UsageModule.forWorker();
    const app = await startContext(
      parts,
      DeliveryModule.forWorker(handler, queue, messages),
      SendingModule.with(queue, messages),
      UpkeepModule.of([queue, messages, pull, events, usage]),
    );
    const background = new Background(app, settings, 'worker');
    await background.start();
    return {
      queuePages: (basePath: string) => openQueuePages(app.get(QueueConnection), basePath),
      state: () => app.get(Consumer).state,
      isClockRight: () => app.get(ClockWatch).isRight,
      isRedisUp: () => app.get(JobQueue).isUp,
      isQueueCurrent: () => app.get(CurrentQueue).isCurrent,
      stop: async () => {
        await background.stop();
        await app.close();
      },
    };
  };
  return startManaged(settings, logger, start, migrate);
}
