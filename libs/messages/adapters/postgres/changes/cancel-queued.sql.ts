import { TRANSITIONS } from '../../../domain/message-status.js';
import { hasEndpoints, hasJob } from '../delivery-mode.sql.js';
import { isFound } from '../message-row.js';
import { leaveAllLines, NOTHING_RELEASED, RELEASED } from '../order/lines.sql.js';
import { messagesOf, type MessageIndex } from '../reading/message-index.sql.js';

const { from, to } = TRANSITIONS.cancel;

/**
 * Cancels the next queued messages of an index, as `Message.cancel` does; $1, $2, $4 and $5 as in `messagesOf`, $3 messages
 * at most. They are found first and locked then: one that is claimed in between is not cancelled, and the next step begins
 * after the last that was found. Their places in lines are locked before their rows, as by CHANGE_MESSAGE; those of
 * messages for endpoints after their rows, as by the ends of deliveries. A step therefore cancels only messages of the one
 * kind, that of the first, and says whether it has found others.
 */
export const cancelQueued = (index: MessageIndex): string => `
  WITH found AS MATERIALIZED (${messagesOf(index, 'id, delivery, ordering_key', `'${from}'`, 'ASC')} LIMIT $3
  ), page AS MATERIALIZED (
    SELECT * FROM found
    WHERE (${hasEndpoints('delivery')}) = (SELECT ${hasEndpoints('delivery')} FROM found ORDER BY key LIMIT 1)
  ), locked AS MATERIALIZED (
    SELECT sluice.lock_lines(array_agg($1 || ' ' || delivery), array_agg(ordering_key))
    FROM page WHERE ordering_key IS NOT NULL AND NOT (${hasEndpoints('delivery')})
  ), held AS MATERIALIZED (
    SELECT id FROM sluice.messages
    WHERE (SELECT count(*) FROM locked) = 1 AND id = ANY (ARRAY(SELECT id FROM page)) AND status = '${from}'
    ORDER BY id FOR UPDATE
  ), cancelled AS (
    UPDATE sluice.messages m
    SET status = '${to}', updated_at = clock_timestamp(), available_at = NULL, next_attempt_at = NULL
    FROM held WHERE ${isFound('held')}
    RETURNING m.id, m.position, m.retries,
              ${hasJob('m.delivery')} AND coalesce(m.deliver_at <= statement_timestamp(), true) AS has_job
  )
  SELECT (SELECT count(*) FROM found)::int AS found, (SELECT max(id) FROM found) AS last, count(*)::int AS count,
         (SELECT count(*) FROM found) > (SELECT count(*) FROM page) AS others,
         coalesce(json_agg(json_build_object('id', id, 'retries', retries)) FILTER (WHERE has_job), '[]') AS jobs,
         ${NOTHING_RELEASED}
  FROM cancelled
  UNION ALL
  SELECT NULL, NULL, NULL, NULL, NULL, ${RELEASED} FROM (${leaveAllLines('cancelled')}) released`;
