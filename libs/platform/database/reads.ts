import type { OnApplicationShutdown } from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import type { Database } from './database.js';
import { Turns, type TurnLimits } from '../concurrency/turns.js';

/**
 * A read holds its turn for a further millisecond for each of this many bytes: an account with two reads at a time gets
 * at most 32 MiB a second. Each MiB takes about 6 ms of the event loop, so one account could take all of it otherwise.
 */
const BYTES_PER_MS = 16_384;

/**
 * Reads on behalf of callers, on a separate pool of connections. The number of concurrent reads per caller is limited,
 * so that a caller with many reads delays only itself.
 */
export class Reads implements OnApplicationShutdown {
  private readonly turns: Turns;

  constructor(
    private readonly database: Database,
    limits: TurnLimits,
  ) {
    this.turns = new Turns(limits);
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
    await this.turns.take(callerId);
    let restMs = 0;
    try {
      const rows = await this.database.prepared<Row>(name, text, values);
      restMs = Math.floor(bytesOf(rows) / BYTES_PER_MS);
      return rows;
    } finally {
      this.turns.end(callerId, restMs);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}
