import { Module, type DynamicModule, type FactoryProvider, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Ids } from '#kernel/ids.js';
import { Database } from '#platform/database/database.js';
import { SETTINGS } from '#platform/platform.module.js';
import { provide } from '#platform/provide.js';
import type { Settings } from '#platform/settings.js';
import { UsageError } from '#platform/usage-error.js';
import { EndpointsController } from './adapters/http/endpoints.controller.js';
import { PostgresEndpoints } from './adapters/postgres/postgres-endpoints.js';
import { UndiciWebhookClient } from './adapters/undici/undici-webhook-client.js';
import { ChangeEndpoint } from './application/change-endpoint.js';
import { CreateEndpoint } from './application/create-endpoint.js';
import { DeleteEndpoint } from './application/delete-endpoint.js';
import { Endpoints } from './application/endpoints.js';
import { GetEndpoint } from './application/get-endpoint.js';
import { ListEndpoints } from './application/list-endpoints.js';
import { ResealSecrets } from './application/reseal-secrets.js';
import { RotateSecret } from './application/rotate-secret.js';
import { SecretBox } from './application/secret-box.js';
import { TestEndpoint } from './application/test-endpoint.js';
import { WebhookClient } from './application/webhook-client.js';

const core: FactoryProvider[] = [
  { provide: Endpoints, useFactory: (database: Database) => PostgresEndpoints.open(database), inject: [Database] },
  {
    provide: SecretBox,
    useFactory: async ({ secretsKeys }: Settings, endpoints: Endpoints) => {
      const box = new SecretBox(secretsKeys);
      await requireKeys(endpoints, box);
      return box;
    },
    inject: [SETTINGS, Endpoints],
  },
  {
    provide: WebhookClient,
    useFactory: ({ webhooks }: Settings) => new UndiciWebhookClient(webhooks),
    inject: [SETTINGS],
  },
];

/** @throws UsageError when secrets of this database are encrypted under a key that this process does not have */
async function requireKeys(endpoints: Endpoints, { keyIds }: SecretBox): Promise<void> {
  const missing = (await endpoints.keyIds()).filter((id) => !keyIds.includes(id));
  if (missing.length === 0) return;
  throw new UsageError(
    `SECRETS_KEY must contain the key under which the secrets of endpoints are encrypted in this database (${missing.join(', ')}). To replace it, put the new one before it.`,
  );
}

const useCases: FactoryProvider[] = [
  provide(CreateEndpoint, [Endpoints, SecretBox, WebhookClient, Ids, Clock]),
  provide(ListEndpoints, [Endpoints]),
  provide(GetEndpoint, [Endpoints]),
  provide(ChangeEndpoint, [Endpoints, WebhookClient, Clock]),
  provide(DeleteEndpoint, [Endpoints]),
  provide(RotateSecret, [Endpoints, SecretBox, Clock]),
  provide(TestEndpoint, [Endpoints, SecretBox, WebhookClient, Ids, Clock]),
  provide(ResealSecrets, [Endpoints, SecretBox]),
];

@Module({})
export class WebhooksModule implements OnApplicationBootstrap {
  constructor(private readonly reseal: ResealSecrets) {}

  static forApi(): DynamicModule {
    return { module: WebhooksModule, controllers: [EndpointsController], providers: [...core, ...useCases] };
  }

  onApplicationBootstrap(): Promise<void> {
    return this.reseal.execute();
  }
}
