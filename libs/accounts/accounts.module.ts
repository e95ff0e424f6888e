import {
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type FactoryProvider,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { HttpAdapterHost, Reflector } from '@nestjs/core';
import { Clock } from '#kernel/clock.js';
import { Ids } from '#kernel/ids.js';
import { Database } from '#platform/database/database.js';
import { AddressBudget } from '#platform/http/address-budget.js';
import { Secret } from '#platform/http/secret.js';
import { Metrics } from '#platform/management/metrics.js';
import { SETTINGS } from '#platform/platform.module.js';
import type { Settings } from '#platform/settings.js';
import { AccessGuard } from './adapters/http/access.guard.js';
import { AccountsController } from './adapters/http/accounts.controller.js';
import { AdminAccountsController } from './adapters/http/admin-accounts.controller.js';
import { ApiKeyGuard } from './adapters/http/api-key.guard.js';
import { ApiKeysController } from './adapters/http/api-keys.controller.js';
import { LateAnswers } from './adapters/http/late-answers.js';
import { SignupPolicy } from './adapters/http/signup-policy.js';
import { countAuthentications } from './adapters/metrics/authentication-metrics.js';
import { PostgresAccounts } from './adapters/postgres/postgres-accounts.js';
import { Accounts } from './application/accounts.js';
import { CreateApiKey, ListApiKeys, RevokeApiKey, RotateApiKey } from './application/api-keys.js';
import { AUTHENTICATED, AuthenticateCaller, type Authenticated } from './application/authenticate-caller.js';
import { KeySecrets } from './application/key-secrets.js';
import { LastUse } from './application/last-use.js';
import { ChangePlan, GetAccount, ListAccounts } from './application/plans.js';
import { SignUp } from './application/sign-up.js';

const HOUR_SECONDS = 3_600;

const core: FactoryProvider[] = [
  { provide: Accounts, useFactory: (database: Database) => PostgresAccounts.open(database), inject: [Database] },
  { provide: KeySecrets, useFactory: ({ apiKeyPepper }: Settings) => new KeySecrets(apiKeyPepper), inject: [SETTINGS] },
  { provide: LastUse, useFactory: (accounts: Accounts) => new LastUse(accounts), inject: [Accounts] },
  {
    provide: AuthenticateCaller,
    useFactory: (accounts: Accounts, secrets: KeySecrets, clock: Clock, lastUse: LastUse) =>
      new AuthenticateCaller(accounts, secrets, clock, lastUse),
    inject: [Accounts, KeySecrets, Clock, LastUse],
  },
];

const useCases: FactoryProvider[] = [
  ...[SignUp, CreateApiKey, RotateApiKey].map((UseCase) => ({
    provide: UseCase,
    useFactory: (accounts: Accounts, secrets: KeySecrets, ids: Ids, clock: Clock) =>
      new UseCase(accounts, secrets, ids, clock),
    inject: [Accounts, KeySecrets, Ids, Clock],
  })),
  ...[GetAccount, ListAccounts, ChangePlan].map((UseCase) => ({
    provide: UseCase,
    useFactory: (accounts: Accounts) => new UseCase(accounts),
    inject: [Accounts],
  })),
  {
    provide: RevokeApiKey,
    useFactory: (accounts: Accounts, clock: Clock) => new RevokeApiKey(accounts, clock),
    inject: [Accounts, Clock],
  },
  {
    provide: ListApiKeys,
    useFactory: (accounts: Accounts, lastUse: LastUse) => new ListApiKeys(accounts, lastUse),
    inject: [Accounts, LastUse],
  },
];

const http: FactoryProvider[] = [
  { provide: AUTHENTICATED, useFactory: countAuthentications, inject: [Metrics] },
  {
    provide: ApiKeyGuard,
    useFactory: (authenticate: AuthenticateCaller, { adminApiKey }: Settings, authenticated: Authenticated) =>
      new ApiKeyGuard(authenticate, adminApiKey === null ? null : new Secret(adminApiKey), authenticated),
    inject: [AuthenticateCaller, SETTINGS, AUTHENTICATED],
  },
  { provide: AccessGuard, useFactory: (reflector: Reflector) => new AccessGuard(reflector), inject: [Reflector] },
  {
    provide: LateAnswers,
    useFactory: (host: HttpAdapterHost, authenticate: AuthenticateCaller) => new LateAnswers(host, authenticate),
    inject: [HttpAdapterHost, AuthenticateCaller],
  },
  {
    provide: SignupPolicy,
    useFactory: ({ signup }: Settings) =>
      new SignupPolicy(signup.open, new AddressBudget('signup', signup.perHour, HOUR_SECONDS)),
    inject: [SETTINGS],
  },
];

@Module({ providers: [...core, ...useCases], exports: [AuthenticateCaller, SignUp] })
export class AccountsModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(private readonly lastUse: LastUse) {}

  /** @param operators whether there is an operators' key, without which their routes do not exist */
  static forApi(operators: boolean): DynamicModule {
    return {
      module: AccountsModule,
      // The limiter, too, asks who is calling: there must be one memory of keys.
      global: true,
      controllers: [AccountsController, ApiKeysController, ...(operators ? [AdminAccountsController] : [])],
      providers: http,
      exports: [ApiKeyGuard, AccessGuard, AUTHENTICATED],
    };
  }

  onApplicationBootstrap(): void {
    this.lastUse.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.lastUse.close();
  }
}
