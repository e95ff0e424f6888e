import { INITIAL_STATUS, TRANSITIONS } from '../../../domain/message-status.js';
import { hasEndpoints, hasJob, isLeased } from '../delivery-mode.sql.js';
import { redeliver, retriedAs } from '../endpoints/retry-to-endpoints.sql.js';
import { BYTES } from '../message-size.sql.js';
import { FRESH_ATTEMPTS, isFound } from '../message-row.js';
import { messagesOf, type MessageIndex } from '../reading/message-index.sql.js';
import { leaveAllLines, NOTHING_RELEASED, RELEASED, rejoinLines, retriedMembers } from '../order/lines.sql.js';
import { availableFrom, insertEntries, insertEntriesToSweep, releasedAt } from '../start-delivery.sql.js';

/** How many deliveries a retry has started: to the endpoints of messages for webhooks, else one for each message. */
const countDeliveries = (retried: string): string =>
  `((SELECT count(*) FROM ${retried} WHERE NOT (${hasEndpoints('delivery')})) + (SELECT count(*) FROM redelivered))::int
         AS deliveries`;

/** From when a retried message may be leased. */
const AVAILABLE = availableFrom(releasedAt('m.position', 'clock_timestamp()'));

/** What of retried messages takes its place in a line again. */
const membersOf = (retried: string): string =>
  retriedMembers(
    `${retried} WHERE NOT (${hasEndpoints('delivery')})`,
    `redelivered JOIN ${retried} ON ${retried}.id = message_id`,
  );

const RETRIED = retriedAs('$2', '$6', '$11');

/**
 * A compare-and-set: every transition changes one of the three columns of the condition.
 *
 * $1 id, $2 account; before: $3 status, $4 attempts, $5 retries; after: $6 status, $7 retries, $8 failures, $9 crashes, $10
 * lone crashes, $11 failure reason; $12 whether it is a retry; $13 the ordering key of a message that is
 * cancelled, and $14 its delivery mode: its place in the line is locked before its row, since the end of another message
 * may have to change both.
 */
export const CHANGE_MESSAGE = `
  WITH locked AS MATERIALIZED (
    SELECT sluice.lock_lines(CASE WHEN $13::text IS NOT NULL THEN ARRAY[$2 || ' ' || $14::text] END, ARRAY[$13])
  ), moved AS (
    UPDATE sluice.messages m
    SET status = CASE WHEN $12 THEN ${RETRIED.status} ELSE $6 END,
        updated_at = clock_timestamp(), retries = $7, failures = $8, crashes = $9, lone_crashes = $10,
        failure_reason = CASE WHEN $12 THEN ${RETRIED.reason} ELSE $11 END,
        available_at = CASE WHEN $6 = '${INITIAL_STATUS}' THEN ${AVAILABLE} END,
        next_attempt_at = NULL
    WHERE id = $1 AND status = $3 AND attempts = $4 AND retries = $5 AND (SELECT count(*) FROM locked) = 1
    RETURNING id, account_id, type, delivery, deliver_at, ordering_key, position, status, failure_reason, updated_at, ${BYTES} AS bytes
  ), retried AS (
    SELECT * FROM moved WHERE $12
  ), entry AS (${insertEntries({
    rows: `(SELECT * FROM retried WHERE ${hasJob('delivery')} AND position IS NULL) retried`,
    groupBy: 'id',
  })}
    RETURNING id, for_sweeper
  ), ${redeliver('retried', '$2')}
  SELECT status, failure_reason, updated_at, ${countDeliveries('retried')},
         (SELECT id FROM entry WHERE NOT for_sweeper) AS entry_id, NULL::text[] AS message_ids, NULL::text AS available
  FROM moved
  UNION ALL
  SELECT NULL, NULL, NULL, NULL, ${RELEASED} FROM (
    SELECT * FROM (${rejoinLines(membersOf('retried'), false)}) rejoined
    UNION ALL
    SELECT * FROM (${leaveAllLines(`(SELECT * FROM moved WHERE status = '${TRANSITIONS.cancel.to}') moved`)}) cancelled
  ) released`;

const ALL_RETRIED = retriedAs('$1', `'${TRANSITIONS.retry.to}'`, 'NULL');

/** Retries the next failed messages of an index; $1, $2, $4 and $5 as in `messagesOf`, $3 messages at most. */
export const retryFailed = (index: MessageIndex): string => `
  WITH failed AS (${messagesOf(index, 'id', `'${TRANSITIONS.retry.from}'`, 'ASC')} LIMIT $3 FOR UPDATE
  ), moved AS (
    UPDATE sluice.messages m
    SET status = ${ALL_RETRIED.status}, failure_reason = ${ALL_RETRIED.reason},
        available_at = ${AVAILABLE}, ${FRESH_ATTEMPTS}
    FROM failed WHERE ${isFound('failed')}
    RETURNING m.id, m.account_id, m.type, m.delivery, m.deliver_at, m.ordering_key, m.position, m.failure_reason, ${BYTES} AS bytes
  ), entries AS (${insertEntriesToSweep(`moved WHERE ${hasJob('delivery')} AND position IS NULL`)}
  ), ${redeliver('moved', '$1')}
  SELECT count(*)::int AS count, max(id) AS last, (count(*) FILTER (WHERE ${isLeased('delivery')}))::int AS leasable,
         (SELECT count(*) FROM redelivered)::int AS redelivered, ${countDeliveries('moved')}, ${NOTHING_RELEASED}
  FROM moved
  UNION ALL
  SELECT NULL, NULL, NULL, NULL, NULL, ${RELEASED} FROM (${rejoinLines(membersOf('moved'), true)}) released`;
