import { setTimeout as sleep } from 'node:timers/promises';
import { lowestId } from '#kernel/ids.js';
import type { Database } from '#platform/database/database.js';
import { sqlState } from '#platform/database/errors.js';
import { Partitions, type Period } from '../../application/partitions.js';
import { BYTES, hasEndpoints, hasJob, OPEN } from '#messages/adapters/postgres/index.js';

/** The maximum time that other statements wait behind a lock request, and the pause between two tries. */
const LOCK_TIMEOUT_MS = 200;
const PAUSE_MS = 500;
const TRIES = 5;

/** Stragglers that one statement removes. */
const REMOVED_AT_ONCE = 1_000;

const IS_OPEN = `status IN (${OPEN})`;
/** The conditions of the indexes of open messages. */
const OPEN_BY_DELIVERY = [
  `${IS_OPEN} AND ${hasJob('delivery')}`,
  `${IS_OPEN} AND ${hasEndpoints('delivery')}`,
  'available_at IS NOT NULL',
];
const LOCK_BOTH = 'LOCK TABLE ONLY sluice.messages, ONLY sluice.attempts IN ACCESS EXCLUSIVE MODE;';

/** The name of a partition contains its period: `messages_20261121_20261124`. */
const PERIODS = `
  SELECT substring(relname, 10, 8) AS from, substring(relname, 19, 8) AS until
  FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
  WHERE inhparent = 'sluice.messages'::regclass AND relname ~ '^messages_\\d{8}_\\d{8}$' ORDER BY relname`;

/** The partitioned tables, each with its partition key. */
const TABLES = [
  ['messages', 'id'],
  ['attempts', 'message_id'],
] as const;

/** The two partitions outside of all periods. */
const ENDS = ['before', 'after'] as const;

// A message may be retried in the meantime: its status is checked again once the row is locked. What its deliveries were
// counted with is not known any more; it goes with the last message of the day.
const stragglersOf = (end: (typeof ENDS)[number]) => `
  WITH gone AS (
    DELETE FROM sluice.messages_${end} WHERE id IN (
      SELECT id FROM sluice.messages_${end} WHERE NOT ${IS_OPEN} AND updated_at < $1 LIMIT ${REMOVED_AT_ONCE}
    ) AND NOT ${IS_OPEN}
    RETURNING id, account_id, (created_at AT TIME ZONE 'UTC')::date AS day, ${BYTES} AS bytes
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
  constructor(private readonly database: Database) {
    super();
  }

  async list(): Promise<{ now: Date; periods: Period[] }> {
    const [row] = await this.database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    const rows = await this.database.query<{ from: string; until: string }>(PERIODS);
    return { now: row?.now ?? new Date(0), periods: rows.map(toPeriod) };
  }

  async add(period: Period): Promise<boolean> {
    const [from, until] = [boundOf(period.from), boundOf(period.until)];
    const steps = TABLES.map(([table, key]) => {
      const after = `sluice.${table}_after`;
      const added = `sluice.${table}_${nameOf(period)}`;
      return `
        ALTER TABLE sluice.${table} DETACH PARTITION ${after};
        CREATE TABLE ${added} PARTITION OF sluice.${table} FOR VALUES FROM (${from}) TO (${until});
        WITH moved AS (DELETE FROM ${after} WHERE ${key} < ${until} RETURNING *)
        INSERT INTO ${added} SELECT * FROM moved;
        ALTER TABLE sluice.${table} ATTACH PARTITION ${after} FOR VALUES FROM (${until}) TO (MAXVALUE);`;
    });
    await this.runExclusively(`
      IF (SELECT max(until) FROM (${PERIODS}) p) = '${nameOf(period).slice(0, 8)}' THEN
        ${LOCK_BOTH}
        ${steps.join('')}
      END IF;`);
    return this.has(period);
  }

  async empty(period: Period): Promise<boolean> {
    const name = nameOf(period);
    const isFilled = async () => (await this.database.query(`SELECT FROM sluice.messages_${name} LIMIT 1`)).length > 0;
    const isOpen = OPEN_BY_DELIVERY.map((open) => `EXISTS (SELECT FROM sluice.messages_${name} WHERE ${open})`).join(
      ' OR ',
    );
    if (!(await this.has(period)) || !(await isFilled())) return false;
    // First without a lock: a message may stay open for long.
    await this.runExclusively(`
      IF to_regclass('sluice.messages_${name}') IS NULL THEN RETURN; END IF;
      IF ${isOpen} THEN RETURN; END IF;
      LOCK TABLE sluice.messages_${name}, sluice.attempts_${name} IN ACCESS EXCLUSIVE MODE;
      IF ${isOpen} THEN RETURN; END IF;
      TRUNCATE sluice.messages_${name}, sluice.attempts_${name};
      DELETE FROM sluice.endpoint_deliveries
        WHERE message_id >= ${boundOf(period.from)} AND message_id < ${boundOf(period.until)};
      ${forgetStorage(period)}`);
    return !(await this.has(period)) || !(await isFilled());
  }

  async remove(oldest: Period): Promise<boolean> {
    const name = nameOf(oldest);
    const isFilled = `EXISTS (SELECT FROM sluice.messages_${name})`;
    const steps = TABLES.map(([table]) => {
      const before = `sluice.${table}_before`;
      return `
        ALTER TABLE sluice.${table} DETACH PARTITION ${before};
        DROP TABLE sluice.${table}_${name};
        ALTER TABLE sluice.${table} ATTACH PARTITION ${before} FOR VALUES FROM (MINVALUE) TO (${boundOf(oldest.until)});`;
    });
    await this.runExclusively(`
      IF (SELECT min("from") FROM (${PERIODS}) p) IS DISTINCT FROM '${name.slice(0, 8)}' THEN RETURN; END IF;
      IF ${isFilled} THEN RETURN; END IF;
      ${forgetStorage(oldest)}
      ${LOCK_BOTH}
      IF ${isFilled} THEN RETURN; END IF;
      ${steps.join('')}`);
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
   * Runs steps in one process at a time; does nothing if their locks are not available soon. All in one statement, so
   * that no lock is held while the database waits for a process, which may never continue.
   */
  private async runExclusively(steps: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.database.query(`
          DO $$ BEGIN
            PERFORM set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true);
            IF NOT pg_try_advisory_xact_lock(hashtext('sluice.partitions')) THEN RETURN; END IF;
            ${steps}
          END $$`);
        return;
      } catch (error) {
        if (sqlState(error) !== '55P03') throw error;
        if (tries === TRIES) return;
        await sleep(PAUSE_MS);
      }
    }
  }
}

function toPeriod({ from, until }: { from: string; until: string }): Period {
  return { from: toDate(from), until: toDate(until) };
}

/** Also where there were no messages: what retries store is counted on the day of the retry. */
function forgetStorage({ from, until }: Period): string {
  return `DELETE FROM sluice.storage WHERE day >= '${dayOf(from)}' AND day < '${dayOf(until)}';`;
}

/** `20261121` → midnight in UTC. */
function toDate(day: string): Date {
  return new Date(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T00:00:00Z`);
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

function nameOf({ from, until }: Period): string {
  return `${dayOf(from)}_${dayOf(until)}`.replaceAll('-', '');
}

/** The lowest id of a time, as SQL. */
function boundOf(date: Date): string {
  return `'${lowestId('msg', date)}'`;
}
