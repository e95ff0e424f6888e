import { Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { Activity } from '#kernel/activity.js';
import { Clock } from '#kernel/clock.js';
import { Deliveries, type MessagesSettings } from '#messages/index.js';
import { ClockWatch } from '#platform/database/clock-watch.js';
import type { Logger } from '#platform/observability/logging.js';
import { Metrics } from '#platform/observability/metrics.js';
import type { Tracing } from '#platform/observability/tracing/tracing.js';
import { LOGGER, SETTINGS, TRACING } from '#platform/process/platform.module.js';
import { provide, provideSetting } from '#platform/process/provide.js';
import type { DeliverySettings } from './settings.js';
import { LoggingHandler } from './adapters/handlers/logging-handler.js';
import { TracedHandler } from './adapters/handlers/traced-handler.js';
import { ConsumerMonitor } from './adapters/monitoring/consumer-monitor.js';
import { DeliveryMetrics } from './adapters/monitoring/delivery-metrics.js';
import { Consumer } from './application/consumer.js';
import { DeliverMessage } from './application/deliver-message.js';
import { JobQueue } from './application/job-queue.js';
import { MessageHandler } from './application/message-handler.js';

/** What processes look up. */
export { Consumer };

/** A Nest module that exports a `MessageHandler`. */
export type HandlerModule = Type | DynamicModule;

const WORKER = Symbol('settings of workers');
const TERMS = Symbol('terms of deliveries');
const TRACED_HANDLER = Symbol('traced handler');

const consuming: Provider[] = [
  {
    provide: TRACED_HANDLER,
    useFactory: (handler: MessageHandler, tracing: Tracing | null, { queueName }: DeliverySettings) =>
      tracing === null ? handler : new TracedHandler(handler, tracing, queueName),
    inject: [MessageHandler, TRACING, SETTINGS],
  },
  provideSetting(WORKER, ({ worker }: DeliverySettings) => worker),
  provideSetting(TERMS, ({ worker, retries }: DeliverySettings & MessagesSettings) => ({ ...worker, ...retries })),
  provide(DeliveryMetrics, [Metrics]),
  provide(DeliverMessage, [Deliveries, TRACED_HANDLER, TERMS, Clock, DeliveryMetrics]),
  provide(ConsumerMonitor, [LOGGER]),
  provide(Consumer, [JobQueue, DeliverMessage, WORKER, ClockWatch, ConsumerMonitor, Activity]),
];

/** Delivers the messages of the queue by a handler. */
@Module({})
export class DeliveryModule {
  /**
   * @param handler a handler, or a module that exports one; null only logs deliveries
   * @param queue the `QueueModule`
   * @param messages the module that exports `Deliveries`
   */
  static forWorker(
    handler: MessageHandler | HandlerModule | null,
    queue: DynamicModule,
    messages: DynamicModule,
  ): DynamicModule {
    const isModule = handler !== null && !('handle' in handler);
    const handlerProvider = {
      provide: MessageHandler,
      useFactory: (logger: Logger) => handler ?? new LoggingHandler(logger),
      inject: [LOGGER],
    };
    return {
      module: DeliveryModule,
      imports: [queue, messages, ...(isModule ? [handler] : [])],
      providers: [...consuming, ...(isModule ? [] : [handlerProvider])],
    };
  }
}
