import { Module, type DynamicModule, type FactoryProvider } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Ids } from '#kernel/ids.js';
import { StorageCap } from '#messages/index.js';
import { Database } from '#platform/database/database.js';
import { provide } from '#platform/process/provide.js';
import { EndpointsModule } from './endpoints.module.js';
import { DeliveriesController } from './adapters/http/deliveries.controller.js';
import { EndpointActionsController } from './adapters/http/endpoint-actions.controller.js';
import { EndpointsController } from './adapters/http/endpoints.controller.js';
import { MESSAGE_WEBHOOK, WEBHOOKS } from './adapters/http/webhook-models.js';
import { ForgetEndpoints } from './adapters/postgres/forget-endpoints.js';
import { ChangeEndpoint } from './application/endpoints/change-endpoint.js';
import { CreateEndpoint } from './application/endpoints/create-endpoint.js';
import { DeleteEndpoint } from './application/endpoints/delete-endpoint.js';
import { DeliveryLog } from './application/delivery-log.js';
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

/** For the OpenAPI document. */
export { MESSAGE_WEBHOOK, WEBHOOKS };

/** What forgets a deleted account. */
export { ForgetEndpoints };

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

/** Endpoints over HTTP, for the API. */
@Module({})
export class WebhooksModule {
  /** @param messages the module that exports `Availability` and `StorageCap` */
  static with(messages: DynamicModule): DynamicModule {
    return {
      module: WebhooksModule,
      imports: [messages, EndpointsModule.with(messages)],
      controllers: [EndpointsController, EndpointActionsController, DeliveriesController],
      providers: useCases,
    };
  }
}
