import type { OnApplicationShutdown } from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import type { Database } from './database.js';
import { CallerLimit, type CallerLimitOptions } from '../concurrency/caller-limit.js';

/**
 * A read counts as running for a further millisecond for each of this many bytes: an account with two reads at a time
 * gets at most 32 MiB a second. Each MiB takes about 6 ms of the event loop, so one account could take all of it
 * otherwise.
 */
const BYTES_PER_MS = 16_384;

/**
 * Reads on behalf of callers, on a separate pool of connections. The number of concurrent reads per caller is limited,
 * so that a caller with many reads delays only itself.
 */
export class Reads implements OnApplicationShutdown {
  private readonly limit: CallerLimit;

  constructor(
    private readonly database: Database,
    limits: CallerLimitOptions,
  ) {
    this.limit = new CallerLimit(limits);
  }

  /**
   * Runs a statement that each connection plans once. `name` must be unique for its text.
   * @param bytesOf the size of a large result
   * @throws RetryLaterError `unavailable` when the caller has too many reads in progress
   */
  async query<Row extends QueryResultRow>(
    callerId: string,
    name: string,
    text: string,
    values: unknown[],
    bytesOf: (rows: Row[]) => number = () => 0,
  ): Promise<Row[]> {
    await this.limit.acquire(callerId);
    let restMs = 0;
    try {
      const rows = await this.database.prepared<Row>(name, text, values);
      restMs = Math.floor(bytesOf(rows) / BYTES_PER_MS);
      return rows;
    } finally {
      this.limit.release(callerId, restMs);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}
