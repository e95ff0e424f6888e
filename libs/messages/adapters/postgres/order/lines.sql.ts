/*
 * Messages with an ordering key stand in lines: see migrations/0006-order.sql, whose functions these statements call. A
 * function is called with the rows of the statement that has stored or ended messages, as its last part; without such rows
 * it does nothing. It returns `RELEASED` columns: what was released.
 */

export const RELEASED = 'entry_id, message_ids, available';
/** In a row that contains something else. */
export const NOTHING_RELEASED = 'NULL::bigint AS entry_id, NULL::text[] AS message_ids, NULL::text AS available';

const LINE = `account_id || ' ' || delivery`;

/**
 * Messages for handlers and consumers leave their lines.
 * @param ended a relation with `account_id`, `delivery`, `ordering_key` and `position`
 */
export const leaveLines = (ended: string): string => `
  SELECT released.* FROM (
    SELECT array_agg(${LINE}) AS lines, array_agg(ordering_key) AS keys, array_agg(position) AS positions
    FROM ${ended} WHERE position IS NOT NULL
  ) ended CROSS JOIN LATERAL sluice.leave_lines(lines, keys, positions) released`;

/**
 * Cancelled messages and their deliveries to endpoints leave their lines.
 * @param cancelled a relation with `id` and `position`
 */
export const leaveAllLines = (cancelled: string): string => `
  SELECT released.* FROM (SELECT array_agg(id) AS ids FROM ${cancelled} WHERE position IS NOT NULL) cancelled
  CROSS JOIN LATERAL sluice.leave_lines_of(ids) released`;

/**
 * Messages that are retried, and deliveries that start anew, take their places again.
 * @param members a relation with `line`, `ordering_key`, `position`, `message_id` and `due_at`
 * @param bySweeper whether a sweeper relays the outbox entries
 */
export const rejoinLines = (members: string, bySweeper: boolean): string => `
  SELECT released.* FROM (
    SELECT array_agg(line) AS lines, array_agg(ordering_key) AS keys, array_agg(position) AS positions,
           array_agg(message_id) AS ids, array_agg(due_at) AS dues
    FROM ${members} WHERE position IS NOT NULL
  ) members CROSS JOIN LATERAL sluice.rejoin_lines(lines, keys, positions, ids, dues, ${bySweeper}) released`;

/**
 * What `rejoinLines` needs of messages that are retried.
 * @param retried a relation with the columns of messages, without those for endpoints
 * @param redelivered a relation with `message_id`, `endpoint_id`, and columns of messages
 */
export const retriedMembers = (retried: string, redelivered: string): string => `(
    SELECT ${LINE} AS line, ordering_key, position, id AS message_id, NULL::timestamptz AS due_at FROM ${retried}
    UNION ALL
    SELECT endpoint_id, ordering_key, position, message_id, deliver_at FROM ${redelivered}
  ) members`;

/**
 * Messages that are accepted get their positions. Rows with `message_id`, `line` (null if it goes to no endpoint),
 * `position` and `released`.
 * @param members a relation with `message_id`, `line`, `ordering_key`, `due_at`, and `place`, their order
 */
export const takePositions = (members: string): string => `
  SELECT taken.* FROM (
    SELECT array_agg(message_id ORDER BY place, line) AS ids, array_agg(line ORDER BY place, line) AS lines,
           array_agg(ordering_key ORDER BY place, line) AS keys, array_agg(due_at ORDER BY place, line) AS dues
    FROM ${members}
  ) members CROSS JOIN LATERAL sluice.take_positions(ids, lines, keys, dues) taken`;

/** The message `m` waits for another one with its key. */
export const IS_BLOCKED = `(CASE WHEN m.position IS NOT NULL THEN (
    SELECT NOT o.released FROM sluice.ordered_deliveries o
    WHERE o.line = m.account_id || ' ' || m.delivery AND o.ordering_key = m.ordering_key AND o.position = m.position
  ) END) IS TRUE`;

/** The message `m` with a job was taken back from the queue, since one before it was retried. */
export const isTakenBack = (m: string): string => `${m}.next_attempt_at = 'infinity'`;

/** A key in a line, and whether none of its deliveries is on its way. */
export interface InspectedKey {
  readonly line: string;
  readonly ordering_key: string;
  readonly is_stuck: boolean;
}

/** The next keys after $2 in the line $1, $3 at most. */
export const INSPECT_LINES = 'SELECT line, ordering_key, is_stuck FROM sluice.inspect_lines($1, $2, $3)';

/** Releases the first delivery of each key of $2 in a line of $1, if it is stuck. */
export const HEAL_LINES = `SELECT ${RELEASED} FROM sluice.heal_lines($1::text[], $2::text[])`;
