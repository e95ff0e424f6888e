import { setTimeout as sleep } from 'node:timers/promises';
import { lowestId } from '#kernel/ids.js';
import type { Database } from '#platform/database/database.js';
import { UsageLedger, type Recount } from '../../application/usage-ledger.js';
import { PERIOD_MS } from '../../domain/usage-period.js';
import {
  ANNOUNCE,
  CLOSE,
  COUNT,
  COUNT_LATE,
  FIND_DUE,
  FIND_WRITERS,
  FIND_WRITERS_AGAIN,
  HAS_COUNTED,
  HAS_UNCOUNTED,
  HAS_WORK,
  MAKE_DUE,
  MAKE_DUE_OF,
  MESSAGES_AT_ONCE,
  RECOUNT,
  REMOVE,
  ROWS_AT_ONCE,
} from './count.sql.js';

/** Transactions last milliseconds; the limits of a connection end one that hangs. */
const WRITERS_WAIT_MS = 15_000;
const PAUSE_MS = 20;

export class PostgresUsageLedger extends UsageLedger {
  constructor(private readonly database: Database) {
    super();
  }

  async now(): Promise<Date> {
    const [row] = await this.database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    return row?.now ?? new Date(0);
  }

  async announce(id: string, everyMs: number): Promise<boolean> {
    return (await this.database.query(ANNOUNCE, [id, everyMs])).length > 0;
  }

  async othersEnded(signal: AbortSignal): Promise<boolean> {
    const deadline = performance.now() + WRITERS_WAIT_MS;
    let writers = await this.database.query<{ writer: string }>(FIND_WRITERS);
    while (writers.length > 0 && performance.now() < deadline && !signal.aborted) {
      await sleep(PAUSE_MS);
      writers = await this.database.query(FIND_WRITERS_AGAIN, [writers.map(({ writer }) => writer)]);
    }
    return writers.length === 0;
  }

  async count(id: string): Promise<boolean> {
    const [row] = await this.database.query<{ counted: string }>('SELECT counted FROM sluice.usage_progress');
    if (row === undefined || row.counted >= id) return false;
    await this.database.query(COUNT, [row.counted, id]);
    return true;
  }

  async countLate(): Promise<boolean> {
    const [row] = await this.database.query<{ count: number }>(COUNT_LATE);
    return row?.count === MESSAGES_AT_ONCE;
  }

  due(): Promise<Recount[]> {
    return this.database.query(FIND_DUE);
  }

  async recount(hours: readonly Recount[]): Promise<void> {
    await this.database.query(RECOUNT, [
      hours.map(({ accountId }) => accountId),
      hours.map(({ start }) => start),
      hours.map(({ start }) => lowestId('msg', start)),
      hours.map(({ start }) => lowestId('msg', new Date(start.getTime() + PERIOD_MS.hour))),
    ]);
  }

  async makeDue(from: Date, until: Date): Promise<boolean> {
    return (await this.database.query(MAKE_DUE, [from, until])).length === ROWS_AT_ONCE;
  }

  async makeDueOf(accountId: string): Promise<void> {
    await this.database.query(MAKE_DUE_OF, [accountId]);
  }

  async hasWork(): Promise<boolean> {
    const [row] = await this.database.query<{ hasWork: boolean }>(HAS_WORK);
    return row?.hasWork === true;
  }

  async hasUncounted(accountId: string): Promise<boolean> {
    const [row] = await this.database.query<{ hasUncounted: boolean }>(HAS_UNCOUNTED, [accountId]);
    return row?.hasUncounted === true;
  }

  async close(accountId: string): Promise<void> {
    await this.database.query(CLOSE, [accountId]);
  }

  async hasCounted(id: string): Promise<boolean> {
    const [row] = await this.database.query<{ hasCounted: boolean }>(HAS_COUNTED, [id]);
    return row?.hasCounted === true;
  }

  async remove(before: Date): Promise<boolean> {
    return (await this.database.query(REMOVE, [before])).length === ROWS_AT_ONCE;
  }
}
