import type { Database } from '#platform/database/database.js';
import type { Reads } from '#platform/database/reads.js';
import { EventLog, type EventPage, type Position } from '../../application/event-log.js';
import type { Message, MessageStatus } from '#messages/index.js';
import { type MessageRow, toMessage } from '#messages/adapters/postgres/index.js';
import { BEGIN_LOG, DELETE_EVENTS, LOG_END, READ_EVENTS, READ_NEW_EVENTS } from './events.sql.js';

const DELETED_AT_ONCE = 10_000;

/** A message, whose columns are null if it was removed, and how an event has left it. */
type EventRow = (MessageRow | { readonly id: null }) & {
  readonly event_account: string;
  readonly event_id: string;
  readonly event_status: MessageStatus;
  readonly event_at: Date;
  readonly event_attempts: number;
  readonly event_reason: string | null;
  readonly more: boolean;
};

/** Above the number of a transaction, a position has the time in seconds at which the log began anew, or 0. */
const EPOCH_BITS = 64n;
const numberOf = (position: bigint) => BigInt.asUintN(Number(EPOCH_BITS), position);
const epochOf = (position: bigint) => position >> EPOCH_BITS;

/**
 * Parts of the log begin and end at the number of a transaction. When the database has become another cluster, as after a
 * dump was restored, positions of before are lower than all others, and everything that is kept comes after them: a client
 * may get an event twice, but misses none.
 */
export class PostgresEventLog extends EventLog {
  private epoch = 0n;

  constructor(
    private readonly database: Database,
    private readonly reads: Reads,
  ) {
    super();
  }

  async end(): Promise<bigint> {
    const [row] = await this.database.query<{ until: string; epoch: string | null; current: boolean }>(LOG_END);
    if (row?.current === false) {
      await this.database.query(BEGIN_LOG);
      return this.end();
    }
    this.epoch = BigInt(row?.epoch ?? 0);
    return this.positionAt(row?.until ?? '0');
  }

  async readNew(accountIds: readonly string[], from: bigint) {
    const rows = await this.database.prepared<{ until: string } & (EventRow | { event_account: null })>(
      'read-new-events',
      READ_NEW_EVENTS,
      [accountIds, String(numberOf(from))],
    );
    const until = rows[0] === undefined ? from : this.positionAt(rows[0].until);
    const byAccount = new Map<string, EventRow[]>();
    for (const row of rows) {
      if (row.event_account === null) continue;
      const others = byAccount.get(row.event_account);
      if (others === undefined) byAccount.set(row.event_account, [row]);
      else others.push(row);
    }
    return { until, pages: new Map([...byAccount].map(([id, page]) => [id, pageOf(page, { from, until })])) };
  }

  async read(accountId: string, { from, until, id }: Position): Promise<EventPage> {
    const isOfNow = (position: bigint) => epochOf(position) === this.epoch;
    if (!isOfNow(until)) return { events: [], next: null };
    const first = isOfNow(from) ? numberOf(from) : 0n;
    const values = [accountId, String(first), String(numberOf(until)), String(id)];
    return pageOf(await this.reads.query<EventRow>(accountId, 'read-events', READ_EVENTS, values), { from, until });
  }

  private positionAt(number: string): bigint {
    return (this.epoch << EPOCH_BITS) | BigInt(number);
  }

  async deleteExpired(): Promise<boolean> {
    const [row] = await this.database.query<{ count: number }>(DELETE_EVENTS, [DELETED_AT_ONCE]);
    return row?.count === DELETED_AT_ONCE;
  }
}

/** The message as the event has left it. */
function messageOf(row: EventRow & MessageRow): Message {
  const { event_status: status, event_at: updated_at, event_attempts: attempts, event_reason: failure_reason } = row;
  // Its wait is of its last change.
  const next_attempt_at = row.updated_at.getTime() === updated_at.getTime() ? row.next_attempt_at : null;
  return toMessage({ ...row, status, updated_at, attempts, failure_reason, next_attempt_at });
}

function pageOf(rows: readonly EventRow[], part: Pick<Position, 'from' | 'until'>): EventPage {
  const positionOf = ({ event_id }: EventRow): Position => ({ ...part, id: BigInt(event_id) });
  const last = rows.at(-1);
  return {
    events: rows
      .filter((row) => row.id !== null)
      .map((row) => ({ position: positionOf(row), message: messageOf(row) })),
    next: last?.more === true ? positionOf(last) : null,
  };
}
