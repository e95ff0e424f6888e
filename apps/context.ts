import { Module, type DynamicModule, type INestApplicationContext, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Backpressure } from '#platform/concurrency/backpressure.js';
import { Database, logLostConnections } from '#platform/database/database.js';
import { NestLogger, type Logger } from '#platform/observability/logging.js';
import { Metrics } from '#platform/observability/metrics.js';
import { PlatformModule, type ProcessParts } from '#platform/process/platform.module.js';
import { openTracing } from '#platform/observability/tracing/open-tracing.js';
import type { Settings } from './settings.js';

type Imports = NonNullable<ModuleMetadata['imports']>;

/** Opens what the contexts of a process share. */
export async function openParts(
  settings: Settings,
  logger: Logger,
  name: string,
  metrics: Metrics,
): Promise<ProcessParts<Settings>> {
  const database = await Database.connect({
    ...settings.database,
    applicationName: `sluice-${name}`,
    onError: logLostConnections(logger),
  });
  const backpressure = new Backpressure(settings.http.maxWaitMs);
  return { settings, logger, database, metrics, backpressure, tracing: await openTracing(settings, name, logger) };
}

@Module({})
class ContextModule {
  static of(parts: ProcessParts, imports: Imports): DynamicModule {
    return { module: ContextModule, imports: [PlatformModule.of(parts), ...imports] };
  }
}

/** Starts a process without HTTP. */
export function startContext(parts: ProcessParts, ...imports: Imports): Promise<INestApplicationContext> {
  return NestFactory.createApplicationContext(ContextModule.of(parts, imports), {
    logger: new NestLogger(parts.logger),
    abortOnError: false,
  });
}

/** Starts contexts for a command, without tracing or metrics. */
export async function startTools(
  settings: Settings,
  logger: Logger,
  ...imports: Imports
): Promise<INestApplicationContext> {
  const parts = await openParts({ ...settings, tracing: false }, logger, 'tools', new Metrics());
  return startContext(parts, ...imports).catch(async (error: unknown) => {
    // A command ends when its connections do.
    await parts.database.close();
    throw error;
  });
}
