import { Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, Reflector } from '@nestjs/core';
import { getOptionsToken, getStorageToken, ThrottlerModule, type ThrottlerModuleOptions } from '@nestjs/throttler';
import { AUTHENTICATED, AuthenticateCaller, type Authenticated } from '#accounts/index.js';
import { Backpressure } from '#platform/concurrency/backpressure.js';
import { observers } from '#platform/concurrency/batcher.js';
import { Database, logLostConnections } from '#platform/database/database.js';
import { allRoutes, keyedRoutes } from '#platform/http/openapi/routes.js';
import { EarlyCheck } from '#platform/http/edge/request-hooks.js';
import { Secret } from '#platform/http/access/secret.js';
import type { Logger } from '#platform/observability/logging.js';
import { BatchMetrics } from '#platform/observability/batch-metrics.js';
import { Metrics } from '#platform/observability/metrics.js';
import { loopTime } from '#platform/process/loop-time.js';
import { LOGGER, SETTINGS } from '#platform/process/platform.module.js';
import { provide, provideAs } from '#platform/process/provide.js';
import type { PlatformSettings } from '#platform/process/settings.js';
import { BansController } from './adapters/http/bans.controller.js';
import { EarlyPlanCheck } from './adapters/http/early-plan-check.js';
import { PlanThrottlerStorage } from './adapters/http/plan-throttler-storage.js';
import { PlanThrottlerGuard, type Budgets } from './adapters/http/plan-throttler.guard.js';
import { UsageController } from './adapters/http/usage.controller.js';
import { countDecisions } from './adapters/monitoring/limiter-metrics.js';
import { PostgresBans } from './adapters/postgres/postgres-bans.js';
import { PostgresLimiter } from './adapters/postgres/postgres-limiter.js';
import { Bans } from './application/bans.js';
import type { Decision } from './application/decisions.js';
import { CountRequest } from './application/count-request.js';
import { ExpiredLimits } from './application/expired-limits.js';
import { Limiter } from './application/limiter.js';
import { WINDOW_MS } from './domain/windows.js';
import type { RateLimitingSettings } from './settings.js';

/** What the process starts and stops. */
export { ExpiredLimits, PostgresLimiter };

const COUNTERS = Symbol('database of the counters');
const BUDGETS = Symbol('budgets of requests without an account');
const DECIDED = Symbol('counts decisions');
/** Two calls run at the same time at most; the third connection is for queries of the usage. */
const POOL_SIZE = 3;

@Module({
  providers: [
    {
      provide: COUNTERS,
      useFactory: ({ database }: PlatformSettings, logger: Logger) =>
        Database.connect({
          url: database.url,
          poolSize: POOL_SIZE,
          applicationName: 'sluice-counters',
          asynchronousCommit: true,
          onError: logLostConnections(logger),
        }),
      inject: [SETTINGS, LOGGER],
    },
    {
      provide: PostgresLimiter,
      useFactory: (
        counters: Database,
        { bans }: RateLimitingSettings,
        batches: BatchMetrics,
        backpressure: Backpressure,
      ) => new PostgresLimiter(counters, bans, observers(batches.observer('hits'), backpressure.observer('count'))),
      inject: [COUNTERS, SETTINGS, BatchMetrics, Backpressure],
    },
    { provide: Limiter, useExisting: PostgresLimiter },
    provideAs(Bans, PostgresBans, [Database]),
    provide(ExpiredLimits, [Bans, Limiter]),
  ],
  exports: [Limiter, Bans],
})
class CountersModule implements OnApplicationShutdown {
  constructor(@Inject(COUNTERS) private readonly counters: Database) {}

  async onApplicationShutdown(): Promise<void> {
    await this.counters.close();
  }
}

@Module({})
export class RateLimitingModule {
  /**
   * @param operators whether there is an operators' key, without which their routes do not exist
   * @param messages the module that exports `GetMessageUsage`
   */
  static forApi(operators: boolean, budgets: Budgets, messages: DynamicModule): DynamicModule {
    return {
      module: RateLimitingModule,
      imports: [
        DiscoveryModule,
        CountersModule,
        ThrottlerModule.forRootAsync({
          imports: [CountersModule],
          inject: [Limiter],
          // The limits are those of each account, which the storage knows.
          useFactory: (limiter: Limiter): ThrottlerModuleOptions => ({
            throttlers: [{ name: 'plan', ttl: WINDOW_MS.minute, limit: Infinity }],
            storage: new PlanThrottlerStorage(limiter),
          }),
        }),
        messages,
      ],
      controllers: [UsageController, ...(operators ? [BansController] : [])],
      providers: [
        { provide: BUDGETS, useValue: budgets },
        { provide: DECIDED, useFactory: countDecisions, inject: [Metrics] },
        {
          provide: CountRequest,
          useFactory: (limiter: Limiter, authenticate: AuthenticateCaller) =>
            new CountRequest(limiter, authenticate, loopTime),
          inject: [Limiter, AuthenticateCaller],
        },
        provide(PlanThrottlerGuard, [getOptionsToken(), getStorageToken(), Reflector, CountRequest, BUDGETS, DECIDED]),
        {
          provide: EarlyCheck,
          useFactory: (
            authenticate: AuthenticateCaller,
            countRequest: CountRequest,
            { adminApiKey }: PlatformSettings,
            discovery: DiscoveryService,
            authenticated: Authenticated,
            decided: (decision: Decision) => void,
          ) =>
            new EarlyPlanCheck(
              authenticate,
              countRequest,
              adminApiKey === null ? null : new Secret(adminApiKey),
              budgets.anonymous,
              keyedRoutes(allRoutes(discovery)),
              authenticated,
              decided,
            ),
          inject: [AuthenticateCaller, CountRequest, SETTINGS, DiscoveryService, AUTHENTICATED, DECIDED],
        },
      ],
      exports: [PlanThrottlerGuard],
    };
  }
}
