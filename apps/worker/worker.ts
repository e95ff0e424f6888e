import type { MessageHandler } from '#messages/index.js';
import {
  ClockWatch,
  Consumer,
  CurrentQueue,
  MessagesModule,
  openQueuePages,
  QueueConnection,
  type HandlerModule,
} from '#messages/messages.module.js';
import type { Logger } from '#platform/observability/logging.js';
import type { Metrics } from '#platform/observability/metrics.js';
import type { Settings } from '#platform/process/settings.js';
import { WebhooksModule } from '#webhooks/webhooks.module.js';
import { openParts, startContext } from '../context.js';
import { startManaged, type ManagedProcess } from '#platform/process/managed-process.js';

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
    const messages = MessagesModule.forWorker(settings, handler);
    const app = await startContext(parts, messages, WebhooksModule.forWorker(messages));
    return {
      queuePages: (basePath: string) => openQueuePages(app.get(QueueConnection), basePath),
      state: () => app.get(Consumer).state,
      isClockRight: () => app.get(ClockWatch).isRight,
      isRedisUp: () => app.get(QueueConnection).isUp,
      isQueueCurrent: () => app.get(CurrentQueue).isCurrent,
      stop: () => app.close(),
    };
  };
  return startManaged(settings, logger, start, migrate);
}
