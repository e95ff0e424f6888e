import type { FactoryProvider } from '@nestjs/common';
import { LOGGER, SETTINGS } from '../process/platform.module.js';
import type { Logger } from '../observability/logging.js';
import type { PlatformSettings } from '../process/settings.js';
import { Database, logLostConnections, type DatabaseOptions } from './database.js';

/** Connections for one purpose, so that it never waits for another. The module that provides them closes them. */
export function provideDatabase(
  token: symbol,
  options: Pick<DatabaseOptions, 'applicationName' | 'poolSize' | 'asynchronousCommit'>,
): FactoryProvider<Database> {
  return {
    provide: token,
    useFactory: ({ database: { url } }: PlatformSettings, logger: Logger) =>
      Database.connect({ url, onError: logLostConnections(logger), ...options }),
    inject: [SETTINGS, LOGGER],
  };
}
