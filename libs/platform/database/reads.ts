import type { OnApplicationShutdown } from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { RetryLaterError } from '#kernel/domain-error.js';
import type { Database } from './database.js';

/** Reads of a caller that may wait, however short their wait is: each holds its request in memory. */
const MAX_WAITING = 1_000;

/**
 * A read holds its turn for a further millisecond for each of this many bytes: an account with two reads at a time gets
 * at most 32 MiB a second. Each MiB takes about 6 ms of the event loop, so one account could take all of it otherwise.
 */
const BYTES_PER_MS = 16_384;

export interface ReadLimits {
  /** Reads of one caller at the same time. */
  readonly perCaller: number;
  /** While a read of the caller has waited for longer than this, further ones are refused. */
  readonly maxWaitMs: number;
}

interface Caller {
  running: number;
  readonly waiting: { readonly since: number; readonly start: () => void }[];
}

/**
 * Queries that callers ask for, on connections that nothing else uses. Those of one caller wait for each other, so that
 * it delays only itself.
 */
export class Reads implements OnApplicationShutdown {
  private readonly callers = new Map<string, Caller>();

  constructor(
    private readonly database: Database,
    private readonly limits: ReadLimits,
  ) {}

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
    await this.turn(callerId);
    let restMs = 0;
    try {
      const rows = await this.database.prepared<Row>(name, text, values);
      restMs = Math.floor(bytesOf(rows) / BYTES_PER_MS);
      return rows;
    } finally {
      if (restMs === 0) this.end(callerId);
      else
        setTimeout(() => {
          this.end(callerId);
        }, restMs);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }

  private async turn(callerId: string): Promise<void> {
    const caller = this.callers.get(callerId) ?? { running: 0, waiting: [] };
    this.callers.set(callerId, caller);
    if (caller.running < this.limits.perCaller) {
      caller.running++;
      return;
    }
    const since = performance.now();
    const [oldest] = caller.waiting;
    if ((oldest && since - oldest.since > this.limits.maxWaitMs) || caller.waiting.length >= MAX_WAITING) {
      throw new RetryLaterError(
        'unavailable',
        'The account has too many requests of this kind in progress. Retry later.',
        1,
      );
    }
    await new Promise<void>((start) => caller.waiting.push({ since, start }));
  }

  private end(callerId: string): void {
    const caller = this.callers.get(callerId);
    const next = caller?.waiting.shift();
    if (next !== undefined) next.start();
    else if (caller !== undefined && --caller.running === 0) this.callers.delete(callerId);
  }
}
