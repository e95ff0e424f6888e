import { counts } from './endpoint-deliveries.sql.js';

/** It is to be made, and nobody makes it. Written so that no index of all that are to be made seems to fit. */
const WAITS = 'CASE WHEN token IS NULL THEN due_at IS NOT NULL ELSE due_at <= statement_timestamp() END';

/**
 * The messages whose deliveries wait in vain, among the next that an endpoint still has to get.
 *
 * $1 endpoint, $2 the message after which to begin, $3 deliveries to look at.
 */
export const FIND_IN_VAIN = `
  WITH page AS MATERIALIZED (
    SELECT message_id, endpoint_id, NOT ${WAITS} AS is_made FROM sluice.endpoint_deliveries
    WHERE endpoint_id = $1 AND due_at IS NOT NULL AND message_id > $2 ORDER BY message_id LIMIT $3
  ), in_vain AS MATERIALIZED (
    SELECT message_id, is_made FROM page d LEFT JOIN sluice.messages m
      ON m.id = message_id AND m.id = ANY (ARRAY(SELECT message_id FROM page))
    WHERE NOT ${counts('m.type')}
  )
  SELECT (SELECT max(message_id) FROM page HAVING count(*) = $3) AS last,
         ARRAY(SELECT message_id FROM in_vain WHERE NOT is_made) AS waiting,
         EXISTS (SELECT FROM in_vain WHERE is_made) AS "areMade"`;

/**
 * Run after LOCK_MESSAGES, like SETTLE_DELIVERIES. Returns how many deliveries it has ended.
 *
 * $1 endpoint, $2 messages, $3 the reason.
 */
export const ABANDON = `
  WITH locked AS MATERIALIZED (
    SELECT id, type FROM sluice.messages WHERE id = ANY ($2)
  ), held AS (
    SELECT message_id, endpoint_id, account_id, token, number, started_at
    FROM (SELECT unnest($2::text[]) AS message_id, $1::text AS endpoint_id OFFSET 0) t
    JOIN sluice.endpoint_deliveries d USING (message_id, endpoint_id) LEFT JOIN locked ON id = message_id
    WHERE d.message_id = ANY ($2) AND ${WAITS} AND NOT ${counts('type')}
    FOR UPDATE OF d SKIP LOCKED
  ), abandoned AS (
    UPDATE sluice.endpoint_deliveries d
    SET due_at = NULL, ready = false, abandoned = $3, last_number = coalesce(d.number, last_number), token = NULL,
        number = NULL, started_at = NULL
    FROM held h WHERE d.message_id = ANY ($2) AND d.message_id = h.message_id AND d.endpoint_id = h.endpoint_id
  ), lost AS (
    INSERT INTO sluice.attempts (message_id, number, account_id, started_at, outcome, target)
    SELECT message_id, number, account_id, started_at, 'lost', endpoint_id FROM held WHERE token IS NOT NULL
    ON CONFLICT DO NOTHING
  )
  SELECT count(*)::int AS abandoned FROM held`;

/**
 * Before ABANDON, which changes deliveries that wait for others: the end of these locks the line first as well.
 *
 * $1 messages, $2 the endpoint.
 */
export const LOCK_LINES = `
  SELECT sluice.lock_lines(array_agg($2::text), array_agg(ordering_key)) FROM sluice.messages
  WHERE id = ANY ($1::text[]) AND position IS NOT NULL`;
