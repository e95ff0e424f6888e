import {
  Inject,
  Module,
  Optional,
  type DynamicModule,
  type FactoryProvider,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { HttpAdapterHost, Reflector } from '@nestjs/core';
import { Clock } from '#kernel/clock.js';
import { Ids } from '#kernel/ids.js';
import { Database, logLostConnections } from '#platform/database/database.js';
import { sharedValue } from '#platform/database/installation.js';
import { AdmissionCheck } from '#platform/http/access/access.js';
import type { Logger } from '#platform/observability/logging.js';
import { Metrics } from '#platform/observability/metrics.js';
import { LOGGER, SETTINGS } from '#platform/process/platform.module.js';
import { provide, provideAs } from '#platform/process/provide.js';
import type { AccountsSettings } from './settings.js';
import { UsageError } from '#platform/process/usage-error.js';
import { Repeats } from '#platform/http/access/repeats.js';
import { AccessGuard } from './adapters/http/access.guard.js';
import { AccountsController } from './adapters/http/accounts.controller.js';
import { AdminAccountsController } from './adapters/http/admin-accounts.controller.js';
import { ApiKeyGuard } from './adapters/http/api-key.guard.js';
import { ApiKeysController } from './adapters/http/api-keys.controller.js';
import { KeyAdmissionCheck } from './adapters/http/key-admission-check.js';
import { StaleKeyCheck } from './adapters/http/stale-key-check.js';
import { countAuthentications } from './adapters/monitoring/authentication-metrics.js';
import { PostgresAccounts } from './adapters/postgres/postgres-accounts.js';
import { PostgresRepeats } from './adapters/postgres/postgres-repeats.js';
import { Accounts } from './application/accounts.js';
import { AUTHENTICATED, AuthenticateCaller } from './application/authenticate-caller.js';
import { ChangeAccount } from './application/change-account.js';
import { CreateApiKey } from './application/create-api-key.js';
import { KeySecrets } from './application/key-secrets.js';
import { LastUsedTracker } from './application/last-used-tracker.js';
import { ReadAccounts } from './application/read-accounts.js';
import { RevokeApiKey } from './application/revoke-api-key.js';
import { RotateApiKey } from './application/rotate-api-key.js';
import { SignUp } from './application/sign-up.js';
import type { PlatformSettings } from '#platform/process/settings.js';

/** What the process starts and stops. */
export { LastUsedTracker };

/** Connections that only look up keys, so that a lookup never waits for a caller's query. */
const KEY_LOOKUPS = Symbol('database of key lookups');
/** As many lookups as run at the same time. */
const POOL_SIZE = 2;

const core: FactoryProvider[] = [
  {
    provide: Accounts,
    useFactory: (database: Database, lookups?: Database) => PostgresAccounts.open(database, lookups),
    inject: [Database, { token: KEY_LOOKUPS, optional: true }],
  },
  {
    provide: KeySecrets,
    useFactory: async ({ apiKeyPepper, apiKeyPepperPrevious }: AccountsSettings, database: Database) => {
      const secrets = new KeySecrets(apiKeyPepper, apiKeyPepperPrevious);
      await requirePepper(database, secrets);
      return secrets;
    },
    inject: [SETTINGS, Database],
  },
  provide(LastUsedTracker, [Accounts]),
  provide(AuthenticateCaller, [Accounts, KeySecrets, Clock, LastUsedTracker]),
  provide(SignUp, [Accounts, KeySecrets, Ids, Clock]),
  provide(CreateApiKey, [Accounts, KeySecrets, Ids, Clock]),
  provide(RotateApiKey, [Accounts, KeySecrets, Ids, Clock]),
  provide(RevokeApiKey, [Accounts, Clock]),
  provide(ReadAccounts, [Accounts, KeySecrets, LastUsedTracker]),
  provide(ChangeAccount, [Accounts]),
];

/** @throws UsageError when the keys of this database were issued under another pepper */
async function requirePepper(database: Database, { fingerprints: [own = '', ...previous] }: KeySecrets): Promise<void> {
  if ((await sharedValue(database, 'api_key_pepper', own, previous)) === own) return;
  throw new UsageError(
    'API_KEY_PEPPER does not match this database: its API keys were issued with another pepper. Set that one. To change it, see "Change the pepper" in docs/deploy.md.',
  );
}

const http: FactoryProvider[] = [
  {
    provide: KEY_LOOKUPS,
    useFactory: ({ database: { url } }: PlatformSettings, logger: Logger) =>
      Database.connect({
        ...{ url, poolSize: POOL_SIZE, applicationName: 'sluice-keys' },
        onError: logLostConnections(logger),
      }),
    inject: [SETTINGS, LOGGER],
  },
  {
    provide: Repeats,
    useFactory: (database: Database, { apiKeyPepper }: AccountsSettings) =>
      PostgresRepeats.open(database, apiKeyPepper),
    inject: [Database, SETTINGS],
  },
  { provide: AUTHENTICATED, useFactory: countAuthentications, inject: [Metrics] },
  provide(ApiKeyGuard, [AuthenticateCaller, AUTHENTICATED]),
  provide(AccessGuard, [Reflector]),
  provideAs(AdmissionCheck, KeyAdmissionCheck, [AuthenticateCaller]),
  provide(StaleKeyCheck, [HttpAdapterHost, AuthenticateCaller, LOGGER]),
];

@Module({ providers: core, exports: [AuthenticateCaller, SignUp] })
export class AccountsModule implements OnApplicationShutdown {
  constructor(@Optional() @Inject(KEY_LOOKUPS) private readonly lookups?: Database) {}

  /** @param operators whether the operators have a key, without which their routes do not exist */
  static forApi(operators: boolean): DynamicModule {
    return {
      module: AccountsModule,
      // The limiter authenticates callers as well, and must use the same cache of keys.
      global: true,
      controllers: [AccountsController, ApiKeysController, ...(operators ? [AdminAccountsController] : [])],
      providers: http,
      exports: [ApiKeyGuard, AccessGuard, AdmissionCheck, Repeats, AUTHENTICATED],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.lookups?.close();
  }
}
