import { Module, type DynamicModule, type INestApplicationContext, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessageSchema } from '#messages/adapters/postgres/message.schema.js';
import { Database } from '#platform/database/database.js';
import { NestLogger, type Logger } from '#platform/logging.js';
import { PlatformModule, type ProcessParts } from '#platform/platform.module.js';
import type { Settings } from '#platform/settings.js';
import { openTracing } from '#platform/tracing/open-tracing.js';

/** The parts that every process of Sluice has. */
export async function openParts(settings: Settings, logger: Logger, name: string): Promise<ProcessParts> {
  const database = await Database.connect({
    ...settings.database,
    applicationName: `sluice-${name}`,
    entities: [MessageSchema],
    onError: (error) => {
      logger.warn({ err: error }, 'database connection lost');
    },
  });
  return { settings, logger, database, tracing: await openTracing(settings, name, logger) };
}

@Module({})
class ContextModule {
  static of(parts: ProcessParts, imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return { module: ContextModule, imports: [PlatformModule.of(parts), ...imports] };
  }
}

/** A process without HTTP, made of these modules. */
export async function startContext(
  settings: Settings,
  logger: Logger,
  name: string,
  ...imports: NonNullable<ModuleMetadata['imports']>
): Promise<INestApplicationContext> {
  return NestFactory.createApplicationContext(ContextModule.of(await openParts(settings, logger, name), imports), {
    logger: new NestLogger(logger),
    abortOnError: false,
  });
}
