import {
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type FactoryProvider,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, Reflector } from '@nestjs/core';
import { AUTHENTICATED, AuthenticateCaller, type Authenticated } from '#accounts/index.js';
import { Backpressure } from '#platform/backpressure.js';
import { observers } from '#platform/batcher.js';
import { Database } from '#platform/database/database.js';
import { clientAddressBehind } from '#platform/http/client-address.js';
import type { Gate } from '#platform/http/gate.js';
import { allRoutes, keyedRoutes } from '#platform/http/openapi/routes.js';
import { Secret } from '#platform/http/secret.js';
import type { Logger } from '#platform/logging.js';
import { BatchMetrics } from '#platform/management/batch-metrics.js';
import { Metrics } from '#platform/management/metrics.js';
import { LOGGER, SETTINGS } from '#platform/platform.module.js';
import type { Settings } from '#platform/settings.js';
import { countDecisions } from './adapters/metrics/limiter-metrics.js';
import type { Decision } from './decisions.js';
import { BansController } from './adapters/http/bans.controller.js';
import { GateKeeper } from './adapters/http/gate-keeper.js';
import { PostgresBans } from './adapters/postgres/postgres-bans.js';
import { PlanThrottlerGuard, type Budgets } from './adapters/http/plan-throttler.guard.js';
import { Bans } from './bans.js';
import { PlanThrottlerStorage } from './plan-throttler-storage.js';
import { PostgresPlanThrottlerStorage } from './adapters/postgres/postgres-plan-throttler-storage.js';
import { UsageController } from './adapters/http/usage.controller.js';

const COUNTERS = Symbol('database of the counters');
const DECIDED = Symbol('told of each decision');
/** Two calls are under way at most, and now and then somebody asks for usage. */
const POOL_SIZE = 3;
const FORGET_EVERY_MS = 600_000;

@Module({
  controllers: [UsageController],
  providers: [
    {
      provide: COUNTERS,
      useFactory: ({ database }: Settings, logger: Logger) =>
        Database.connect({
          url: database.url,
          poolSize: POOL_SIZE,
          applicationName: 'sluice-counters',
          asynchronousCommit: true,
          onError: (error) => {
            logger.warn({ err: error }, 'database connection lost');
          },
        }),
      inject: [SETTINGS, LOGGER],
    },
    {
      provide: PlanThrottlerStorage,
      useFactory: (counters: Database, { bans }: Settings, batches: BatchMetrics, backpressure: Backpressure) =>
        new PostgresPlanThrottlerStorage(counters, bans, observers(batches.observer('hits'), backpressure.observer())),
      inject: [COUNTERS, SETTINGS, BatchMetrics, Backpressure],
    },
    { provide: Bans, useFactory: (database: Database) => new PostgresBans(database), inject: [Database] },
    {
      provide: 'upkeep',
      useFactory: (bans: Bans, storage: PostgresPlanThrottlerStorage, counters: Database) =>
        new Upkeep(bans, storage, counters),
      inject: [Bans, PlanThrottlerStorage, COUNTERS],
    },
  ],
  exports: [PlanThrottlerStorage],
})
export class RateLimitingModule {
  /**
   * @param operators whether there is an operators' key, without which their routes do not exist
   * @param gate where requests are refused that need no further look
   * @param messages the module that exports `GetMessageUsage`
   */
  static forApi(operators: boolean, budgets: Budgets, gate: Gate, messages: DynamicModule): DynamicModule {
    const decided: FactoryProvider = { provide: DECIDED, useFactory: countDecisions, inject: [Metrics] };
    const guard: FactoryProvider = {
      provide: PlanThrottlerGuard,
      useFactory: (
        storage: PlanThrottlerStorage,
        authenticate: AuthenticateCaller,
        decide: (decision: Decision) => void,
        reflector: Reflector,
      ) => new PlanThrottlerGuard(storage, authenticate, budgets, decide, reflector),
      inject: [PlanThrottlerStorage, AuthenticateCaller, DECIDED, Reflector],
    };
    const gateKeeper: FactoryProvider = {
      provide: GateKeeper,
      useFactory: (
        storage: PlanThrottlerStorage,
        authenticate: AuthenticateCaller,
        { adminApiKey, http }: Settings,
        authenticated: Authenticated,
        decide: (decision: Decision) => void,
        discovery: DiscoveryService,
      ) => {
        const keeper = new GateKeeper({
          ...{ storage, authenticate, authenticated, decided: decide },
          operatorsKey: adminApiKey === null ? null : new Secret(adminApiKey),
          strangers: budgets.strangers,
          addressOf: clientAddressBehind(http.trustProxy),
          needsKey: keyedRoutes(allRoutes(discovery)),
        });
        gate.add(keeper.check);
        return keeper;
      },
      inject: [PlanThrottlerStorage, AuthenticateCaller, SETTINGS, AUTHENTICATED, DECIDED, DiscoveryService],
    };
    return {
      module: RateLimitingModule,
      imports: [DiscoveryModule, messages],
      controllers: operators ? [BansController] : [],
      providers: [decided, guard, gateKeeper],
      exports: [guard],
    };
  }
}

/** Forgets old windows and offences, and hands over the last strikes before the counters' connections close. */
class Upkeep implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly timer: NodeJS.Timeout;

  constructor(
    bans: Bans,
    private readonly storage: PostgresPlanThrottlerStorage,
    private readonly counters: Database,
  ) {
    // What could not be forgotten is forgotten next time.
    this.timer = setInterval(() => void Promise.allSettled([bans.forget(), storage.deleteExpired()]), FORGET_EVERY_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.storage.close();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.counters.close();
  }
}
