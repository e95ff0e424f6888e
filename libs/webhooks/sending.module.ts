import { Module, type DynamicModule, type FactoryProvider } from '@nestjs/common';
import { Activity } from '#kernel/activity.js';
import { Clock } from '#kernel/clock.js';
import { StorageCap } from '#messages/index.js';
import { ClockWatch } from '#platform/database/clock-watch.js';
import { Metrics } from '#platform/observability/metrics.js';
import { LOGGER } from '#platform/process/platform.module.js';
import { provide, provideSetting } from '#platform/process/provide.js';
import { EndpointsModule } from './endpoints.module.js';
import type { WebhooksSettings } from './settings.js';
import { SendingMetrics } from './adapters/monitoring/sending-metrics.js';
import { EndDeliveries } from './application/end-deliveries.js';
import { EndpointDeliveries } from './application/endpoint-deliveries.js';
import { Endpoints } from './application/endpoints/endpoints.js';
import { SecretBox } from './application/endpoints/secret-box.js';
import { DeliverWebhook } from './application/sending/deliver-webhook.js';
import { WebhookClient } from './application/sending/webhook-client.js';
import { WebhookSender } from './application/sending/webhook-sender.js';

/** What the process starts and stops. */
export { EndDeliveries, WebhookSender };

const TERMS = Symbol('settings of webhooks');

const providers: FactoryProvider[] = [
  provideSetting(TERMS, ({ webhooks }: WebhooksSettings) => webhooks),
  provide(SendingMetrics, [Metrics, LOGGER]),
  provide(DeliverWebhook, [
    EndpointDeliveries,
    Endpoints,
    SecretBox,
    WebhookClient,
    TERMS,
    Clock,
    SendingMetrics,
    StorageCap,
  ]),
  provide(WebhookSender, [EndpointDeliveries, Endpoints, DeliverWebhook, TERMS, SendingMetrics, ClockWatch, Activity]),
  provide(EndDeliveries, [Endpoints, EndpointDeliveries, SendingMetrics]),
];

/** The sending of webhooks, for workers. */
@Module({})
export class SendingModule {
  /**
   * @param queue the module that exports `ClockWatch`
   * @param messages the module that exports `Availability` and `StorageCap`
   */
  static with(queue: DynamicModule, messages: DynamicModule): DynamicModule {
    return {
      module: SendingModule,
      imports: [queue, messages, EndpointsModule.with(messages)],
      providers,
    };
  }
}
