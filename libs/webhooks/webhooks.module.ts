import { Module, type DynamicModule, type FactoryProvider } from '@nestjs/common';
import { Activity } from '#kernel/activity.js';
import { Clock } from '#kernel/clock.js';
import { Ids } from '#kernel/ids.js';
import { StorageCap } from '#messages/index.js';
import { ClockWatch } from '#platform/database/clock-watch.js';
import { Database } from '#platform/database/database.js';
import type { Logger } from '#platform/observability/logging.js';
import { Metrics } from '#platform/observability/metrics.js';
import { LOGGER } from '#platform/process/platform.module.js';
import { provide, provideSetting } from '#platform/process/provide.js';
import { EndpointsModule } from './endpoints.module.js';
import type { WebhooksSettings } from './settings.js';
import { DeliveriesController } from './adapters/http/deliveries.controller.js';
import { EndpointActionsController } from './adapters/http/endpoint-actions.controller.js';
import { EndpointsController } from './adapters/http/endpoints.controller.js';
import { SendingMetrics } from './adapters/monitoring/sending-metrics.js';
import { oldestDue } from './adapters/postgres/oldest-due.js';
import { MESSAGE_WEBHOOK, WEBHOOKS } from './adapters/http/webhook-models.js';
import { ForgetEndpoints } from './adapters/postgres/forget-endpoints.js';
import { ChangeEndpoint } from './application/endpoints/change-endpoint.js';
import { CreateEndpoint } from './application/endpoints/create-endpoint.js';
import { DeleteEndpoint } from './application/endpoints/delete-endpoint.js';
import { DeliveryLog } from './application/delivery-log.js';
import { EndDeliveries } from './application/end-deliveries.js';
import { EndpointDeliveries } from './application/endpoint-deliveries.js';
import { Endpoints } from './application/endpoints/endpoints.js';
import { ReadDeliveries } from './application/read-deliveries.js';
import { ReadEndpoints } from './application/endpoints/read-endpoints.js';
import { ReplayEndpoint } from './application/replay-endpoint.js';
import { ResealSecrets } from './application/endpoints/reseal-secrets.js';
import { RotateSecret } from './application/endpoints/rotate-secret.js';
import { SecretBox } from './application/endpoints/secret-box.js';
import { TestEndpoint } from './application/endpoints/test-endpoint.js';
import { WebhookClient } from './application/sending/webhook-client.js';
import { DeliverWebhook } from './application/sending/deliver-webhook.js';
import { WebhookSender } from './application/sending/webhook-sender.js';

/** For the OpenAPI document. */
export { MESSAGE_WEBHOOK, WEBHOOKS };

/** What the process starts and stops. */
export { EndDeliveries, ForgetEndpoints, WebhookSender };

const TERMS = Symbol('settings of webhooks');
const RESEALED = Symbol('secrets under the current key');

const useCases: FactoryProvider[] = [
  provide(CreateEndpoint, [Endpoints, SecretBox, WebhookClient, Ids, Clock]),
  provide(ReadEndpoints, [Endpoints]),
  provide(ReadDeliveries, [DeliveryLog, ReadEndpoints]),
  provide(ChangeEndpoint, [Endpoints, SecretBox, WebhookClient, Clock]),
  provide(DeleteEndpoint, [Endpoints]),
  provide(RotateSecret, [Endpoints, SecretBox, Clock]),
  provide(TestEndpoint, [Endpoints, SecretBox, WebhookClient, Ids, Clock]),
  provide(ReplayEndpoint, [Endpoints, EndpointDeliveries, Clock, StorageCap]),
  provide(ForgetEndpoints, [Database]),
  provide(ResealSecrets, [Endpoints, SecretBox]),
  { provide: RESEALED, useFactory: (reseal: ResealSecrets) => reseal.execute(), inject: [ResealSecrets] },
];

const sending: FactoryProvider[] = [
  provideSetting(TERMS, ({ webhooks }: WebhooksSettings) => webhooks),
  {
    provide: SendingMetrics,
    useFactory: (metrics: Metrics, logger: Logger) => new SendingMetrics(metrics, logger, oldestDue),
    inject: [Metrics, LOGGER],
  },
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

@Module({})
export class WebhooksModule {
  /** @param messages the module that exports `Availability` and `StorageCap` */
  static forApi(messages: DynamicModule): DynamicModule {
    return {
      module: WebhooksModule,
      imports: [messages, EndpointsModule.with(messages)],
      controllers: [EndpointsController, EndpointActionsController, DeliveriesController],
      providers: useCases,
    };
  }

  /**
   * @param queue the module that exports `ClockWatch`
   * @param messages the module that exports `Availability` and `StorageCap`
   */
  static forWorker(queue: DynamicModule, messages: DynamicModule): DynamicModule {
    return {
      module: WebhooksModule,
      imports: [queue, messages, EndpointsModule.with(messages)],
      providers: sending,
    };
  }
}
