import { Global, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, SystemClock } from '#kernel/clock.js';
import { Ids, UuidV7Ids } from '#kernel/ids.js';
import { Database } from './database/database.js';
import { Environment } from './environment.js';
import type { Logger } from './logging.js';
import type { Settings } from './settings.js';

export const SETTINGS = Symbol('settings');
export const LOGGER = Symbol('logger');

export interface ProcessParts {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly database: Database;
}

/** What every context of a process shares. The database closes last, when nobody has anything left to write. */
@Global()
@Module({})
export class PlatformModule implements OnApplicationShutdown {
  constructor(private readonly database: Database) {}

  static of({ settings, logger, database }: ProcessParts): DynamicModule {
    const providers = [
      { provide: SETTINGS, useValue: settings },
      { provide: LOGGER, useValue: logger },
      { provide: Database, useValue: database },
      { provide: Environment, useFactory: () => new Environment(process.env) },
      { provide: Clock, useClass: SystemClock },
      { provide: Ids, useClass: UuidV7Ids },
    ];
    return { module: PlatformModule, providers, exports: providers.map(({ provide }) => provide) };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}
