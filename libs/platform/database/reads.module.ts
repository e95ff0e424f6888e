import { Module, type FactoryProvider, type InjectionToken } from '@nestjs/common';
import { LOGGER, SETTINGS } from '../process/platform.module.js';
import type { Logger } from '../observability/logging.js';
import type { PlatformSettings } from '../process/settings.js';
import { Database, logLostConnections } from './database.js';
import { Reads } from './reads.js';

interface ReadsOptions {
  readonly applicationName: string;
  /** The maximum number of concurrent statements of an account. */
  readonly perCaller: number;
  readonly timeLimitMs?: number;
  readonly asynchronousCommit?: boolean;
}

/**
 * Separate connections for reads on behalf of accounts, so that the connections for sending stay free. The number of
 * concurrent reads per account is limited.
 */
export function provideReads(
  token: InjectionToken,
  optionsOf: (settings: PlatformSettings['reads']) => ReadsOptions,
): FactoryProvider {
  return {
    provide: token,
    useFactory: async ({ database: { url, poolSize }, reads }: PlatformSettings, logger: Logger) => {
      const { perCaller, ...connection } = optionsOf(reads);
      const database = await Database.connect({
        url,
        poolSize: Math.ceil(poolSize / 2),
        inIndexOrder: true,
        onError: logLostConnections(logger),
        ...connection,
      });
      return new Reads(database, { perCaller, maxWaitMs: reads.timeoutMs });
    },
    inject: [SETTINGS, LOGGER],
  };
}

/** The connections on which the contexts of a process read. */
@Module({
  providers: [
    provideReads(Reads, ({ perAccount, timeoutMs }) => ({
      applicationName: 'sluice-reads',
      perCaller: perAccount,
      timeLimitMs: timeoutMs,
    })),
  ],
  exports: [Reads],
})
export class ReadsModule {}
