import { MESSAGE_STATUSES, TRANSITIONS } from '#messages/index.js';
import {
  isWantedBy,
  lacks,
  hasEndpoints,
  NOTHING_RELEASED,
  rejoinLines,
  RELEASED,
  releasedAt,
  replayMessages,
  restartDeliveries,
} from '#messages/adapters/postgres/index.js';

/** The statuses of messages that are replayed. */
export const REPLAYED = MESSAGE_STATUSES.filter((status) => status !== TRANSITIONS.cancel.to);

const IN_EACH_STATUS = REPLAYED.map(
  (_, place) => `(
      SELECT account_id, id, delivery, type FROM sluice.messages
      WHERE account_id >= $1 AND account_id <= $1 AND status = $${6 + place} AND id >= $2 AND id < $3
      ORDER BY account_id, id LIMIT $4)`,
);

/**
 * The messages that an endpoint wants and has not got, among the next messages of an account, by id: an ordering key may
 * have messages of several statuses. The account is a range for the same reason as in lists.
 *
 * $1 account, $2 the first id, $3 the id after the last, $4 messages to look at, $5 endpoint, then the statuses.
 */
export const FIND_MISSED = `
  WITH page AS MATERIALIZED (
    SELECT * FROM (${IN_EACH_STATUS.join(' UNION ALL ')}) merged ORDER BY account_id, id LIMIT $4
  )
  SELECT (SELECT max(id) FROM page) AS last,
         ARRAY(SELECT id FROM page m WHERE ${hasEndpoints('m.delivery')} AND ${isWantedBy('$5', 'm.type')}
                 AND ${lacks('m', '$5')}) AS missed`;

/**
 * After LOCK_MESSAGES, so that it sees the deliveries that another replay or a worker has added: messages that failed are
 * retried for an endpoint, and others get another delivery.
 *
 * $1 messages, $2 endpoint, $3 how many were replayed before them, $4 how many are due in a second.
 */
export const REPLAY = `
  WITH missed AS (
    SELECT m.id, m.account_id, m.status, m.ordering_key, m.position, greatest(m.deliver_at, statement_timestamp() + interval '1 second'
             * (($3::int + row_number() OVER (ORDER BY m.id) - 1) / $4::int)) AS due_at
    FROM sluice.messages m
    WHERE m.id = ANY ($1) AND m.status <> '${TRANSITIONS.cancel.to}' AND ${lacks('m', '$2')}
      AND NOT EXISTS (SELECT FROM sluice.endpoint_deliveries d
                      WHERE d.message_id = m.id AND d.endpoint_id = $2 AND d.due_at IS NOT NULL)
  ), retried AS (${replayMessages('missed')}
  ), restarted AS (${restartDeliveries(
    `SELECT id AS message_id, $2 AS endpoint_id, account_id, ${releasedAt('position', 'due_at')} AS due_at FROM missed`,
  )}
    RETURNING message_id
  )
  SELECT message_id, ${NOTHING_RELEASED} FROM restarted
  UNION ALL
  SELECT NULL, ${RELEASED} FROM (${rejoinLines(
    `(
    SELECT $2::text AS line, ordering_key, position, message_id, due_at FROM missed JOIN restarted ON message_id = id
  ) members`,
    false,
  )}) released`;
