import { Global, Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { Activity } from '#kernel/activity.js';
import { Clock, databaseClock } from '#kernel/clock.js';
import { Ids, UuidV7Ids } from '#kernel/ids.js';
import { Backpressure } from '../concurrency/backpressure.js';
import { Database } from '../database/database.js';
import { Environment } from './environment.js';
import type { Logger } from '../observability/logging.js';
import { BatchMetrics } from '../observability/batch-metrics.js';
import { Metrics } from '../observability/metrics.js';
import type { PlatformSettings } from './settings.js';
import type { Tracing } from '../observability/tracing/tracing.js';

export const SETTINGS = Symbol('settings');
export const LOGGER = Symbol('logger');
/** `Tracing`, or null when it is off. */
export const TRACING = Symbol('tracing');

/** The maximum time to export the last spans at shutdown. */
const LAST_EXPORT_MS = 1_000;

export interface ProcessParts<Settings extends PlatformSettings = PlatformSettings> {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly database: Database;
  readonly tracing: Tracing | null;
  readonly metrics: Metrics;
  readonly backpressure: Backpressure;
}

/** What every context of a process shares. It closes last, because the contexts still use it while they close. */
@Global()
@Module({})
export class PlatformModule implements OnApplicationShutdown {
  constructor(
    private readonly database: Database,
    @Inject(TRACING) private readonly tracing: Tracing | null,
  ) {}

  static of({ settings, logger, database, metrics, tracing, backpressure }: ProcessParts): DynamicModule {
    const providers = [
      { provide: SETTINGS, useValue: settings },
      { provide: LOGGER, useValue: logger },
      { provide: Database, useValue: database },
      { provide: Environment, useFactory: () => new Environment(process.env) },
      { provide: TRACING, useValue: tracing },
      { provide: Metrics, useValue: metrics },
      { provide: Backpressure, useValue: backpressure },
      { provide: BatchMetrics, useFactory: () => new BatchMetrics(metrics) },
      { provide: Activity, useClass: Activity },
      { provide: Clock, useValue: databaseClock },
      { provide: Ids, useClass: UuidV7Ids },
    ];
    return { module: PlatformModule, providers, exports: providers.map(({ provide }) => provide) };
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.database.close(), this.tracing?.close(LAST_EXPORT_MS)]);
  }
}
