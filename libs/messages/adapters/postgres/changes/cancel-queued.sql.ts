import { TRANSITIONS } from '../../../domain/message-status.js';
import { hasJob } from '../delivery-mode.sql.js';
import { leaveAllLines, NOTHING_RELEASED, RELEASED } from '../order/lines.sql.js';
import { messagesOf, type MessageIndex } from '../reading/message-index.sql.js';

const { from, to } = TRANSITIONS.cancel;

/**
 * Cancels the next queued messages of an index, as `Message.cancel` does; $1, $2, $4 and $5 as in `messagesOf`, $3 messages
 * at most. They are found first and locked then: one that is claimed in between is not cancelled, and the next step begins
 * after the last that was found.
 */
export const cancelQueued = (index: MessageIndex): string => `
  WITH page AS MATERIALIZED (${messagesOf(index, 'id', `'${from}'`, 'ASC')} LIMIT $3
  ), held AS MATERIALIZED (
    SELECT id FROM sluice.messages WHERE id = ANY (ARRAY(SELECT id FROM page)) AND status = '${from}'
    ORDER BY id FOR UPDATE
  ), cancelled AS (
    UPDATE sluice.messages m
    SET status = '${to}', updated_at = clock_timestamp(), available_at = NULL, next_attempt_at = NULL
    FROM held WHERE m.id = held.id
    RETURNING m.id, m.retries, m.position,
              ${hasJob('m.delivery')} AND coalesce(m.deliver_at <= statement_timestamp(), true) AS has_job
  )
  SELECT (SELECT count(*) FROM page)::int AS found, (SELECT max(id) FROM page) AS last, count(*)::int AS count,
         coalesce(json_agg(json_build_object('id', id, 'retries', retries)) FILTER (WHERE has_job), '[]') AS jobs,
         ${NOTHING_RELEASED}
  FROM cancelled
  UNION ALL
  SELECT NULL, NULL, NULL, NULL, ${RELEASED} FROM (${leaveAllLines('cancelled')}) released`;
