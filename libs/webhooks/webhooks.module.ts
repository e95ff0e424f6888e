import { Module, type DynamicModule, type FactoryProvider } from '@nestjs/common';
import { Activity } from '#kernel/activity.js';
import { Clock } from '#kernel/clock.js';
import { Ids } from '#kernel/ids.js';
import { Availability, StorageCap } from '#messages/index.js';
import { ClockWatch } from '#platform/database/clock-watch.js';
import { Database } from '#platform/database/database.js';
import { ReadsModule } from '#platform/database/reads.module.js';
import { Reads } from '#platform/database/reads.js';
import { BatchMetrics } from '#platform/observability/batch-metrics.js';
import { Metrics } from '#platform/observability/metrics.js';
import { LOGGER, SETTINGS } from '#platform/process/platform.module.js';
import { provide, provideAs, provideSetting } from '#platform/process/provide.js';
import type { WebhooksSettings } from './settings.js';
import { EndpointsController } from './adapters/http/endpoints.controller.js';
import { measureConnections } from './adapters/monitoring/connection-metrics.js';
import { SendingMetrics } from './adapters/monitoring/sending-metrics.js';
import { MESSAGE_WEBHOOK, WEBHOOKS } from './adapters/http/webhooks.js';
import { openSecretBox } from './adapters/postgres/open-secret-box.js';
import { PostgresEndpointDeliveries } from './adapters/postgres/postgres-endpoint-deliveries.js';
import { PostgresEndpoints } from './adapters/postgres/postgres-endpoints.js';
import { UndiciWebhookClient } from './adapters/undici/undici-webhook-client.js';
import { ChangeEndpoint } from './application/change-endpoint.js';
import { CreateEndpoint } from './application/create-endpoint.js';
import { DeleteEndpoint } from './application/delete-endpoint.js';
import { EndDeliveries } from './application/end-deliveries.js';
import { EndpointDeliveries } from './application/endpoint-deliveries.js';
import { Endpoints } from './application/endpoints.js';
import { ReadEndpoints } from './application/read-endpoints.js';
import { ReplayEndpoint } from './application/replay-endpoint.js';
import { ResealSecrets } from './application/reseal-secrets.js';
import { RotateSecret } from './application/rotate-secret.js';
import { SecretBox } from './application/secret-box.js';
import { TestEndpoint } from './application/test-endpoint.js';
import { WebhookClient } from './application/webhook-client.js';
import { WebhookSender } from './application/webhook-sender.js';

/** For the OpenAPI document. */
export { MESSAGE_WEBHOOK, WEBHOOKS };

/** What the process starts and stops. */
export { EndDeliveries, WebhookSender };

const TERMS = Symbol('settings of webhooks');
const RESEALED = Symbol('secrets under the current key');

const core: FactoryProvider[] = [
  { provide: Endpoints, useFactory: (database: Database) => PostgresEndpoints.open(database), inject: [Database] },
  provideAs(EndpointDeliveries, PostgresEndpointDeliveries, [Database, Reads, Availability, BatchMetrics]),
  { provide: SecretBox, useFactory: openSecretBox, inject: [SETTINGS, Endpoints] },
  provideSetting(TERMS, ({ webhooks }: WebhooksSettings) => webhooks),
  {
    provide: WebhookClient,
    useFactory: ({ webhooks }: WebhooksSettings, metrics: Metrics) => {
      const client = new UndiciWebhookClient(webhooks);
      measureConnections(metrics, () => client.counts);
      return client;
    },
    inject: [SETTINGS, Metrics],
  },
];

const useCases: FactoryProvider[] = [
  provide(CreateEndpoint, [Endpoints, SecretBox, WebhookClient, Ids, Clock]),
  provide(ReadEndpoints, [Endpoints]),
  provide(ChangeEndpoint, [Endpoints, WebhookClient, Clock]),
  provide(DeleteEndpoint, [Endpoints]),
  provide(RotateSecret, [Endpoints, SecretBox, Clock]),
  provide(TestEndpoint, [Endpoints, SecretBox, WebhookClient, Ids, Clock]),
  provide(ReplayEndpoint, [Endpoints, EndpointDeliveries, Clock, StorageCap]),
  provide(ResealSecrets, [Endpoints, SecretBox]),
  { provide: RESEALED, useFactory: (reseal: ResealSecrets) => reseal.execute(), inject: [ResealSecrets] },
];

const sending: FactoryProvider[] = [
  provide(SendingMetrics, [Metrics, LOGGER]),
  provide(WebhookSender, [
    EndpointDeliveries,
    Endpoints,
    SecretBox,
    WebhookClient,
    TERMS,
    Clock,
    SendingMetrics,
    ClockWatch,
    StorageCap,
    Activity,
  ]),
  provide(EndDeliveries, [Endpoints, EndpointDeliveries, SendingMetrics]),
];

@Module({})
export class WebhooksModule {
  /** @param messages the module that exports `Availability` and `StorageCap` */
  static forApi(messages: DynamicModule): DynamicModule {
    return {
      module: WebhooksModule,
      imports: [messages, ReadsModule],
      controllers: [EndpointsController],
      providers: [...core, ...useCases],
    };
  }

  /**
   * @param queue the module that exports `ClockWatch`
   * @param messages the module that exports `Availability` and `StorageCap`
   */
  static forWorker(queue: DynamicModule, messages: DynamicModule): DynamicModule {
    return { module: WebhooksModule, imports: [queue, messages, ReadsModule], providers: [...core, ...sending] };
  }
}
