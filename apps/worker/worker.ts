import { Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessageSchema } from '#messages/adapters/postgres/message.schema.js';
import type { MessageHandler } from '#messages/index.js';
import { MessagesModule } from '#messages/messages.module.js';
import { Database } from '#platform/database/database.js';
import { NestLogger, type Logger } from '#platform/logging.js';
import { PlatformModule, type ProcessParts } from '#platform/platform.module.js';
import type { Settings } from '#platform/settings.js';

/** The consuming process. */
@Module({})
class WorkerModule {
  static of(parts: ProcessParts, handler: MessageHandler | null): DynamicModule {
    return { module: WorkerModule, imports: [PlatformModule.of(parts), MessagesModule.forWorker(handler)] };
  }
}

export interface RunningWorker {
  /** Takes no more jobs, finishes those that run, closes. */
  stop(): Promise<void>;
}

/**
 * Starts consuming on a database whose schema is up to date.
 * @param handler what to do with each message; null only logs deliveries
 */
export async function startWorker(
  settings: Settings,
  logger: Logger,
  handler: MessageHandler | null = null,
): Promise<RunningWorker> {
  const database = await Database.connect({
    ...settings.database,
    applicationName: 'sluice-worker',
    entities: [MessageSchema],
    onError: (error) => {
      logger.warn({ err: error }, 'database connection lost');
    },
  });
  const app = await NestFactory.createApplicationContext(WorkerModule.of({ settings, logger, database }, handler), {
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  return { stop: () => app.close() };
}
