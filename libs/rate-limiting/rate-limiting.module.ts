import { Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, Reflector } from '@nestjs/core';
import { getOptionsToken, getStorageToken, ThrottlerModule } from '@nestjs/throttler';
import { AUTHENTICATED, AuthenticateCaller } from '#accounts/index.js';
import { Backpressure } from '#platform/concurrency/backpressure.js';
import { Database } from '#platform/database/database.js';
import { provideDatabase } from '#platform/database/provide-database.js';
import { EarlyCheck } from '#platform/http/edge/request-hooks.js';
import { BatchMetrics } from '#platform/observability/batch-metrics.js';
import { Metrics } from '#platform/observability/metrics.js';
import { loopTime } from '#platform/process/loop-time.js';
import { SETTINGS } from '#platform/process/platform.module.js';
import { provide, provideSetting } from '#platform/process/provide.js';
import { BansController } from './adapters/http/bans.controller.js';
import { earlyPlanCheck } from './adapters/http/early-plan-check.js';
import { throttlerOptions } from './adapters/http/plan-throttler-storage.js';
import { PlanThrottlerGuard, type Budgets } from './adapters/http/plan-throttler.guard.js';
import { UsageController } from './adapters/http/usage.controller.js';
import { countDecisions, observeHits } from './adapters/monitoring/limiter-metrics.js';
import { ForgetLimits } from './adapters/postgres/forget-limits.js';
import { PostgresBans } from './adapters/postgres/postgres-bans.js';
import { PostgresLimiter } from './adapters/postgres/postgres-limiter.js';
import { Bans } from './application/bans.js';
import { CountRequest } from './application/count-request.js';
import { ExpiredLimits } from './application/expired-limits.js';
import { Limiter } from './application/limiter.js';
import type { RateLimitingSettings } from './settings.js';

/** What the process starts and stops. */
export { ExpiredLimits, ForgetLimits, PostgresLimiter };

const COUNTERS = Symbol('database of the counters');
const BAN_POLICY = Symbol('policy of bans');
const HITS = Symbol('observer of hits');
const BUDGETS = Symbol('budgets of requests without an account');
const NOW = Symbol('time of the event loop');
const DECIDED = Symbol('counts decisions');

@Module({
  providers: [
    // Two calls run at the same time at most; the third connection is for queries of the usage.
    provideDatabase(COUNTERS, { applicationName: 'sluice-counters', poolSize: 3, asynchronousCommit: true }),
    provideSetting(BAN_POLICY, ({ bans }: RateLimitingSettings) => bans),
    { provide: HITS, useFactory: observeHits, inject: [BatchMetrics, Backpressure] },
    provide(PostgresLimiter, [COUNTERS, BAN_POLICY, HITS]),
    { provide: Limiter, useExisting: PostgresLimiter },
    { provide: Bans, useFactory: (database: Database) => PostgresBans.open(database), inject: [Database] },
    provide(ExpiredLimits, [Bans, Limiter]),
    provide(ForgetLimits, [Database]),
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
          useFactory: throttlerOptions,
        }),
        messages,
      ],
      controllers: [UsageController, ...(operators ? [BansController] : [])],
      providers: [
        { provide: BUDGETS, useValue: budgets },
        { provide: DECIDED, useFactory: countDecisions, inject: [Metrics] },
        { provide: NOW, useValue: loopTime },
        provide(CountRequest, [Limiter, AuthenticateCaller, NOW]),
        provide(PlanThrottlerGuard, [getOptionsToken(), getStorageToken(), Reflector, CountRequest, BUDGETS, DECIDED]),
        {
          provide: EarlyCheck,
          useFactory: earlyPlanCheck,
          inject: [AuthenticateCaller, CountRequest, SETTINGS, BUDGETS, DiscoveryService, AUTHENTICATED, DECIDED],
        },
      ],
      exports: [PlanThrottlerGuard],
    };
  }
}
