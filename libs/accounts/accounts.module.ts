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
import { Database } from '#platform/database/database.js';
import { provideDatabase } from '#platform/database/provide-database.js';
import { AdmissionCheck } from '#platform/http/access/access.js';
import { Metrics } from '#platform/observability/metrics.js';
import { LOGGER, SETTINGS } from '#platform/process/platform.module.js';
import { provide, provideAs } from '#platform/process/provide.js';
import type { AccountsSettings } from './settings.js';
import { Repeats } from '#platform/http/access/repeats.js';
import { AccessGuard } from './adapters/http/access.guard.js';
import { AccountsController } from './adapters/http/accounts.controller.js';
import { AdminAccountsController } from './adapters/http/admin-accounts.controller.js';
import { AuditController } from './adapters/http/audit.controller.js';
import { ApiKeyGuard } from './adapters/http/api-key.guard.js';
import { ApiKeysController } from './adapters/http/api-keys.controller.js';
import { KeyAdmissionCheck } from './adapters/http/key-admission-check.js';
import { PlansController } from './adapters/http/plans.controller.js';
import { StaleKeyCheck } from './adapters/http/stale-key-check.js';
import { DeletionLog } from './adapters/monitoring/deletion-log.js';
import { countAuthentications } from './adapters/monitoring/authentication-metrics.js';
import { ForgetKeys } from './adapters/postgres/forget-keys.js';
import { openKeySecrets } from './adapters/postgres/open-key-secrets.js';
import { PostgresAccounts } from './adapters/postgres/postgres-accounts.js';
import { PostgresDeletions } from './adapters/postgres/postgres-deletions.js';
import { existingSignupPlan } from './adapters/postgres/existing-plan.js';
import { PostgresAudit } from './adapters/postgres/postgres-audit.js';
import { PostgresPlans } from './adapters/postgres/postgres-plans.js';
import { PostgresRepeats } from './adapters/postgres/postgres-repeats.js';
import { Accounts } from './application/accounts.js';
import { Audit } from './application/audit.js';
import { AUTHENTICATED, AuthenticateCaller } from './application/authenticate-caller.js';
import { ChangeAccount } from './application/change-account.js';
import { CreateApiKey } from './application/create-api-key.js';
import { DeleteAccount } from './application/delete-account.js';
import { Deletions } from './application/deletions.js';
import { ForgetAccounts } from './application/forget-accounts.js';
import { KeySecrets } from './application/key-secrets.js';
import { LastUsedTracker } from './application/last-used-tracker.js';
import { Plans } from './application/plans.js';
import { ReadAccounts } from './application/read-accounts.js';
import { RevokeApiKey } from './application/revoke-api-key.js';
import { RotateApiKey } from './application/rotate-api-key.js';
import { SIGNUP_PLAN, SignUp } from './application/sign-up.js';

/** What the process starts and stops. */
export { DeletionLog, Deletions, ForgetAccounts, ForgetKeys, LastUsedTracker };

/** Connections that only look up keys, so that a lookup never waits for a caller's query. */
const KEY_LOOKUPS = Symbol('database of key lookups');

const core: FactoryProvider[] = [
  {
    provide: Accounts,
    useFactory: (database: Database, lookups?: Database) => PostgresAccounts.open(database, lookups),
    inject: [Database, { token: KEY_LOOKUPS, optional: true }],
  },
  { provide: KeySecrets, useFactory: openKeySecrets, inject: [SETTINGS, Database] },
  provide(LastUsedTracker, [Accounts]),
  provide(AuthenticateCaller, [Accounts, KeySecrets, Clock, LastUsedTracker]),
  { provide: Plans, useFactory: (database: Database) => PostgresPlans.open(database), inject: [Database] },
  { provide: SIGNUP_PLAN, useFactory: existingSignupPlan, inject: [SETTINGS, Plans] },
  provide(SignUp, [Accounts, Plans, SIGNUP_PLAN, KeySecrets, Ids, Clock]),
  provide(CreateApiKey, [Accounts, KeySecrets, Ids, Clock]),
  provide(RotateApiKey, [Accounts, KeySecrets, Ids, Clock]),
  provide(RevokeApiKey, [Accounts, Clock]),
  provide(ReadAccounts, [Accounts, KeySecrets, LastUsedTracker]),
  provide(ChangeAccount, [Accounts, Plans]),
];

const http: FactoryProvider[] = [
  // As many as lookups run at the same time.
  provideDatabase(KEY_LOOKUPS, { applicationName: 'sluice-keys', poolSize: 2 }),
  {
    provide: Repeats,
    useFactory: (database: Database, { apiKeyPepper }: AccountsSettings) =>
      PostgresRepeats.open(database, apiKeyPepper),
    inject: [Database, SETTINGS],
  },
  { provide: Deletions, useFactory: (database: Database) => PostgresDeletions.open(database), inject: [Database] },
  provide(DeletionLog, [LOGGER]),
  provide(DeleteAccount, [Deletions, DeletionLog]),
  provide(ForgetKeys, [Database]),
  {
    provide: Audit,
    useFactory: (...parts: Parameters<typeof PostgresAudit.open>) => PostgresAudit.open(...parts),
    inject: [Database, Ids, Clock],
  },
  { provide: AUTHENTICATED, useFactory: countAuthentications, inject: [Metrics] },
  provide(ApiKeyGuard, [AuthenticateCaller, AUTHENTICATED]),
  provide(AccessGuard, [Reflector]),
  provideAs(AdmissionCheck, KeyAdmissionCheck, [AuthenticateCaller]),
  provide(StaleKeyCheck, [HttpAdapterHost, AuthenticateCaller, LOGGER]),
];

const OPERATORS = [AdminAccountsController, PlansController, AuditController];

@Module({ providers: core, exports: [AuthenticateCaller, SignUp] })
export class AccountsModule implements OnApplicationShutdown {
  constructor(@Optional() @Inject(KEY_LOOKUPS) private readonly lookups?: Database) {}

  /** @param operators whether the operators have a key, without which their routes do not exist */
  static forApi(operators: boolean): DynamicModule {
    return {
      module: AccountsModule,
      // The limiter authenticates callers as well, and must use the same cache of keys.
      global: true,
      controllers: [AccountsController, ApiKeysController, ...(operators ? OPERATORS : [])],
      providers: http,
      exports: [ApiKeyGuard, AccessGuard, AdmissionCheck, Audit, Repeats, AUTHENTICATED],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.lookups?.close();
  }
}
