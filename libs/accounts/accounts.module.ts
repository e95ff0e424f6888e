import {
  type DynamicModule,
  type FactoryProvider,
  Inject,
  Module,
  type OnApplicationShutdown,
  Optional,
} from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Ids } from '#kernel/ids.js';
import { Database } from '#platform/database/database.js';
import { AdmissionCheck } from '#platform/http/access/access.js';
import { Repeats } from '#platform/http/access/repeats.js';
import { SETTINGS } from '#platform/process/platform.module.js';
import { provide } from '#platform/process/provide.js';
import { http, KEY_LOOKUPS } from './accounts-api.module.js';
import { AccessGuard } from './adapters/http/access.guard.js';
import { AccountsController } from './adapters/http/accounts.controller.js';
import { AdminAccountsController } from './adapters/http/admin-accounts.controller.js';
import { ApiKeyGuard } from './adapters/http/api-key.guard.js';
import { ApiKeysController } from './adapters/http/api-keys.controller.js';
import { AuditController } from './adapters/http/audit.controller.js';
import { OpenedLinksController, PortalLinksController } from './adapters/http/portal-links.controller.js';
import { PlansController } from './adapters/http/plans.controller.js';
import { existingSignupPlan } from './adapters/postgres/existing-plan.js';
import { openKeySecrets } from './adapters/postgres/open-key-secrets.js';
import { PostgresAccounts } from './adapters/postgres/postgres-accounts.js';
import { PostgresPlans } from './adapters/postgres/postgres-plans.js';
import { Accounts } from './application/accounts.js';
import { Audit } from './application/audit.js';
import { AuthenticateCaller, AUTHENTICATED } from './application/authenticate-caller.js';
import { ChangeAccount } from './application/change-account.js';
import { CreateApiKey } from './application/create-api-key.js';
import { KeySecrets } from './application/key-secrets.js';
import { LastUsedTracker } from './application/last-used-tracker.js';
import { Plans } from './application/plans.js';
import { PortalLinks } from './application/portal-links.js';
import { ReadAccounts } from './application/read-accounts.js';
import { RevokeApiKey } from './application/revoke-api-key.js';
import { RotateApiKey } from './application/rotate-api-key.js';
import { SignUp, SIGNUP_PLAN } from './application/sign-up.js';
import type { AccountsSettings } from './settings.js';

/** What the process starts and stops. */
export { DeletionLog, Deletions, ForgetAccounts, ForgetKeys } from './accounts-api.module.js';
export { LastUsedTracker };

const core: FactoryProvider[] = [
  {
    provide: Accounts,
    useFactory: (database: Database, lookups?: Database) => PostgresAccounts.open(database, lookups),
    inject: [Database, { token: KEY_LOOKUPS, optional: true }],
  },
  { provide: KeySecrets, useFactory: openKeySecrets, inject: [SETTINGS, Database] },
  provide(LastUsedTracker, [Accounts]),
  provide(AuthenticateCaller, [Accounts, KeySecrets, Clock, LastUsedTracker]),
  {
    provide: Plans,
    useFactory: (database: Database, settings: AccountsSettings) => PostgresPlans.open(database, settings),
    inject: [Database, SETTINGS],
  },
  { provide: SIGNUP_PLAN, useFactory: existingSignupPlan, inject: [SETTINGS, Plans] },
  provide(SignUp, [Accounts, Plans, SIGNUP_PLAN, KeySecrets, Ids, Clock]),
  provide(CreateApiKey, [Accounts, KeySecrets, Ids, Clock]),
  provide(PortalLinks, [Accounts, KeySecrets, Ids, Clock]),
  provide(RotateApiKey, [Accounts, KeySecrets, Ids, Clock]),
  provide(RevokeApiKey, [Accounts, Clock]),
  provide(ReadAccounts, [Accounts, KeySecrets, LastUsedTracker]),
  provide(ChangeAccount, [Accounts, Plans]),
];

const OPERATORS = [
  AdminAccountsController,
  PlansController,
  PortalLinksController,
  OpenedLinksController,
  AuditController,
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
      controllers: [AccountsController, ApiKeysController, ...(operators ? OPERATORS : [])],
      providers: http,
      exports: [ApiKeyGuard, AccessGuard, AdmissionCheck, Audit, Repeats, AUTHENTICATED],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.lookups?.close();
  }
}
