import { Module, type DynamicModule, type FactoryProvider } from '@nestjs/common';
import { Availability } from '#messages/index.js';
import { Database } from '#platform/database/database.js';
import { ReadsModule } from '#platform/database/reads.module.js';
import { Reads } from '#platform/database/reads.js';
import { BatchMetrics } from '#platform/observability/batch-metrics.js';
import { Metrics } from '#platform/observability/metrics.js';
import { SETTINGS } from '#platform/process/platform.module.js';
import { provideAs } from '#platform/process/provide.js';
import { addBacklogGauge } from './adapters/monitoring/backlog-metrics.js';
import { measureConnections } from './adapters/monitoring/connection-metrics.js';
import { oldestDue } from './adapters/postgres/oldest-due.js';
import { openSecretBox } from './adapters/postgres/open-secret-box.js';
import { PostgresDeliveryLog } from './adapters/postgres/postgres-delivery-log.js';
import { PostgresEndpointDeliveries } from './adapters/postgres/postgres-endpoint-deliveries.js';
import { PostgresEndpoints } from './adapters/postgres/postgres-endpoints.js';
import { UndiciWebhookClient } from './adapters/undici/undici-webhook-client.js';
import { DeliveryLog } from './application/delivery-log.js';
import { EndpointDeliveries } from './application/endpoint-deliveries.js';
import { Endpoints } from './application/endpoints/endpoints.js';
import { SecretBox } from './application/endpoints/secret-box.js';
import { WebhookClient } from './application/sending/webhook-client.js';
import type { WebhooksSettings } from './settings.js';

const providers: FactoryProvider[] = [
  { provide: Endpoints, useFactory: (database: Database) => PostgresEndpoints.open(database), inject: [Database] },
  provideAs(EndpointDeliveries, PostgresEndpointDeliveries, [Database, Reads, Availability, BatchMetrics]),
  provideAs(DeliveryLog, PostgresDeliveryLog, [Reads]),
  { provide: SecretBox, useFactory: openSecretBox, inject: [SETTINGS, Endpoints, Database] },
  {
    provide: WebhookClient,
    useFactory: ({ webhooks }: WebhooksSettings, metrics: Metrics) => {
      const client = new UndiciWebhookClient(webhooks);
      measureConnections(metrics, () => client.counts);
      return client;
    },
    inject: [SETTINGS, Metrics],
  },
  {
    provide: 'metrics of the backlog',
    useFactory: (metrics: Metrics) => {
      addBacklogGauge(metrics, oldestDue);
    },
    inject: [Metrics],
  },
];

/** What both the API and a worker need of endpoints: their stores, their secrets, and requests to them. */
@Module({})
export class EndpointsModule {
  /** @param messages the module that exports `Availability` */
  static with(messages: DynamicModule): DynamicModule {
    return {
      module: EndpointsModule,
      imports: [messages, ReadsModule],
      providers,
      exports: [Endpoints, EndpointDeliveries, DeliveryLog, SecretBox, WebhookClient],
    };
  }
}
