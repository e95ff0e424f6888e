import type { FactoryProvider } from '@nestjs/common';
import { HttpAdapterHost, Reflector } from '@nestjs/core';
import { Clock } from '#kernel/clock.js';
import { Ids } from '#kernel/ids.js';
import { Database } from '#platform/database/database.js';
import { provideDatabase } from '#platform/database/provide-database.js';
import { AdmissionCheck } from '#platform/http/access/access.js';
import { Repeats } from '#platform/http/access/repeats.js';
import { Metrics } from '#platform/observability/metrics.js';
import { LOGGER, SETTINGS } from '#platform/process/platform.module.js';
import { provide, provideAs } from '#platform/process/provide.js';
import { AccessGuard } from './adapters/http/access.guard.js';
import { ApiKeyGuard } from './adapters/http/api-key.guard.js';
import { KeyAdmissionCheck } from './adapters/http/key-admission-check.js';
import { StaleKeyCheck } from './adapters/http/stale-key-check.js';
import { countAuthentications } from './adapters/monitoring/authentication-metrics.js';
import { DeletionLog } from './adapters/monitoring/deletion-log.js';
import { ForgetKeys } from './adapters/postgres/forget-keys.js';
import { PostgresAudit } from './adapters/postgres/postgres-audit.js';
import { PostgresDeletions } from './adapters/postgres/postgres-deletions.js';
import { PostgresRepeats } from './adapters/postgres/postgres-repeats.js';
import { Audit } from './application/audit.js';
import { AuthenticateCaller, AUTHENTICATED } from './application/authenticate-caller.js';
import { DeleteAccount } from './application/delete-account.js';
import { Deletions } from './application/deletions.js';
import { ForgetAccounts } from './application/forget-accounts.js';
import type { AccountsSettings } from './settings.js';

export { DeletionLog, Deletions, ForgetAccounts, ForgetKeys };

/** Connections that only look up keys, so that a lookup never waits for a caller's query. */
export const KEY_LOOKUPS = Symbol('database of key lookups');

/** What only the API needs. */
export const http: FactoryProvider[] = [
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
