import { setTimeout as sleep } from 'node:timers/promises';
import { lowestId } from '#kernel/ids.js';
import type { Database } from '#platform/database/database.js';
import { sqlState } from '#platform/database/errors.js';
import { Partitions, type Period } from '../../application/partitions.js';
import { BYTES, contentBytes, OPEN } from '#messages/adapters/postgres/index.js';
import { addUsage, LOCK_PROGRESS } from '#usage/adapters/postgres/index.js';

/** The pause between two tries. */
const PAUSE_MS = 500;
const TRIES = 5;

const LOCKED = 'A partition cannot be locked: a transaction that has read or changed messages does not end.';

/** Stragglers that one statement removes. */
const REMOVED_AT_ONCE = 1_000;

const IS_OPEN = `status IN (${OPEN})`;

/** The name of a partition contains its period: `messages_20261121_20261124`. */
const PERIODS = `
  SELECT substring(relname, 10, 8) AS from, substring(relname, 19, 8) AS until
  FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
  WHERE inhparent = 'sluice.messages'::regclass AND relname ~ '^messages_\\d{8}_\\d{8}$' ORDER BY relname`;

/** The two partitions outside of all periods. */
const ENDS = ['before', 'after'] as const;

// A message may be retried in the meantime: its status is checked again once the row is locked. The bytes that were
// counted for its deliveries are no longer known; they are removed with the last message of the day. A message of a time that
// is still to come is not part of the usage yet.
const stragglersOf = (end: (typeof ENDS)[number]) => `
  WITH progress AS MATERIALIZED (${LOCK_PROGRESS}), gone AS (
    DELETE FROM sluice.messages_${end} WHERE id IN (
      SELECT id FROM sluice.messages_${end}
      WHERE NOT ${IS_OPEN} AND updated_at < $1 AND EXISTS (SELECT FROM progress) LIMIT ${REMOVED_AT_ONCE}
    ) AND NOT ${IS_OPEN}
    RETURNING id, account_id, created_at, (created_at AT TIME ZONE 'UTC')::date AS day, status, ${BYTES} AS bytes,
              type, ${contentBytes()} AS content_bytes
  ), early AS (
    SELECT gone.* FROM gone, progress WHERE id > counted
  ), used AS (${addUsage('early')}
  ), attempts AS (
    DELETE FROM sluice.attempts_${end} WHERE message_id IN (SELECT id FROM gone)
  ), deliveries AS (
    DELETE FROM sluice.endpoint_deliveries WHERE message_id IN (SELECT id FROM gone)
  ), uncounted AS (
    UPDATE sluice.storage s
    SET bytes = CASE WHEN s.messages > freed.messages THEN s.bytes - freed.bytes ELSE 0 END,
        messages = s.messages - freed.messages
    FROM (SELECT account_id, day, sum(bytes) AS bytes, count(*) AS messages FROM gone GROUP BY account_id, day) freed
    WHERE s.account_id = freed.account_id AND s.day = freed.day
  )
  SELECT count(*)::int AS count FROM gone`;

/** Messages and attempts are partitioned by range of the message's id, which starts with its time. */
export class PostgresPartitions extends Partitions {
  constructor(
    private readonly database: Database,
    private readonly pauseMs = PAUSE_MS,
  ) {
    super();
  }

  async list(): Promise<{ now: Date; periods: Period[] }> {
    const [row] = await this.database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    const rows = await this.database.query<{ from: string; until: string }>(PERIODS);
    return { now: row?.now ?? new Date(0), periods: rows.map(toPeriod) };
  }

  async add(period: Period): Promise<boolean> {
    await this.patiently('SELECT sluice.add_period($1, $2, $3, $4)', [...daysOf(period), ...boundsOf(period)]);
    return this.has(period);
  }

  async empty(period: Period): Promise<boolean> {
    const call = 'SELECT sluice.empty_period($1, $2, $3, $4) AS emptied';
    return this.patiently(call, [...daysOf(period), ...boundsOf(period)]);
  }

  async remove(oldest: Period): Promise<boolean> {
    const [, high] = boundsOf(oldest);
    await this.patiently('SELECT sluice.remove_period($1, $2, $3)', [...daysOf(oldest), high]);
    return !(await this.has(oldest));
  }

  async removeStragglers(before: Date): Promise<number> {
    for (const end of ENDS) {
      const [row] = await this.database.query<{ count: number }>(stragglersOf(end), [before]);
      if (row !== undefined && row.count > 0) return row.count;
    }
    return 0;
  }

  private async has(period: Period): Promise<boolean> {
    const { periods } = await this.list();
    return periods.some((other) => nameOf(other) === nameOf(period));
  }

  /**
   * Calls a function that changes partitions; gives up if its locks are not available soon. It is one statement, so that no
   * lock is held while the database waits for a process, which may never continue.
   */
  private async patiently(call: string, values: unknown[]): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      try {
        const [row] = await this.database.query<{ emptied?: boolean }>(call, values);
        return row?.emptied === true;
      } catch (error) {
        if (sqlState(error) !== '55P03') throw error;
        if (tries === TRIES) throw new Error(LOCKED, { cause: error });
        await sleep(this.pauseMs);
      }
    }
  }
}

function toPeriod({ from, until }: { from: string; until: string }): Period {
  return { from: toDate(from), until: toDate(until) };
}

/** `20261121` → midnight in UTC. */
function toDate(day: string): Date {
  return new Date(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T00:00:00Z`);
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10).replaceAll('-', '');
}

function nameOf(period: Period): string {
  return daysOf(period).join('_');
}

function daysOf({ from, until }: Period): [string, string] {
  return [dayOf(from), dayOf(until)];
}

function boundsOf({ from, until }: Period): [string, string] {
  return [lowestId('msg', from), lowestId('msg', until)];
}
