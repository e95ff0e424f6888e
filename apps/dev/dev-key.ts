import { Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AccountsModule } from '#accounts/accounts.module.js';
import { AuthenticateCaller, SignUp } from '#accounts/index.js';
import { Backpressure } from '#platform/backpressure.js';
import { Database } from '#platform/database/database.js';
import { createLogger } from '#platform/logging.js';
import { Metrics } from '#platform/management/metrics.js';
import { PlatformModule, type ProcessParts } from '#platform/platform.module.js';
import type { Settings } from '#platform/settings.js';
import type { DataDir } from './data-dir.js';

@Module({})
class DevKeyModule {
  static of(parts: ProcessParts): DynamicModule {
    return { module: DevKeyModule, imports: [PlatformModule.of(parts), AccountsModule] };
  }
}

/** An API key to try things with: the one of an earlier start, or the first one of a new account. */
export async function ensureDevKey(dataDir: DataDir, settings: Settings): Promise<string> {
  const database = await Database.connect({
    ...{ url: settings.database.url, poolSize: 2, applicationName: 'sluice-dev' },
    onError: () => undefined,
  });
  const logger = createLogger('silent', 'dev');
  const backpressure = new Backpressure(settings.http.maxWaitMs);
  const parts = { settings, logger, database, metrics: new Metrics(), backpressure, tracing: null };
  const app = await NestFactory.createApplicationContext(DevKeyModule.of(parts), {
    logger: false,
    abortOnError: false,
  });
  try {
    const known = await dataDir.read('dev-key');
    if (known !== undefined && (await app.get(AuthenticateCaller, { strict: false }).execute(known)) !== null) {
      return known;
    }
    const { key } = await app.get(SignUp, { strict: false }).execute('Development');
    await dataDir.write('dev-key', key);
    return key;
  } finally {
    await app.close();
  }
}
