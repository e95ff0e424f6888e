import { deliveriesTo } from '#messages/adapters/postgres/index.js';
import { type EndpointDeliveryStatus, TRANSITIONS } from '#messages/index.js';

/**
 * What is shown of a delivery `d`, which has `message_id`, `endpoint_id` and `status`: `open` is its row while it has not
 * succeeded, `made` the attempt that has, and `last` the last one that has ended. Attempts are `counted` only of a delivery
 * that was stored before their number was.
 */
const SHOWN = `
  SELECT d.message_id AS "messageId", d.endpoint_id AS "endpointId", d.status,
         coalesce(open.attempts, made.attempts, counted.attempts + CASE WHEN open.token IS NULL THEN 0 ELSE 1 END)::int
           AS attempts,
         CASE WHEN open.token IS NULL AND open.due_at > statement_timestamp() AND isfinite(open.due_at)
              THEN open.due_at END AS "nextAttemptAt",
         last.started_at AS "lastAttemptAt",
         CASE WHEN last.ended_at IS NOT NULL
              THEN round(extract(epoch FROM greatest(last.ended_at, last.started_at) - last.started_at) * 1000)::float8 END
           AS "durationMs",
         last.response_status AS "responseStatus", last.response_body AS "responseBody",
         coalesce(open.abandoned, last.error) AS error`;

/** Each is looked up: for a join, a planner that expects many would read the whole table. */
const PARTS = `
  LEFT JOIN LATERAL (
    SELECT token, due_at, abandoned, attempts, last_number FROM sluice.endpoint_deliveries o
    WHERE o.message_id = d.message_id AND o.endpoint_id = d.endpoint_id LIMIT 1
  ) open ON true
  LEFT JOIN LATERAL (
    SELECT number, of_target AS attempts FROM sluice.attempts a
    WHERE d.status = 'delivered' AND a.message_id = d.message_id AND a.target = d.endpoint_id
      AND starts_with(a.target, 'ep_') AND a.outcome = 'delivered' LIMIT 1
  ) made ON true
  LEFT JOIN LATERAL (
    SELECT count(*) AS attempts, max(number) AS number FROM sluice.attempts a
    WHERE coalesce(open.attempts, made.attempts) IS NULL AND a.message_id = d.message_id AND a.target = d.endpoint_id
  ) counted ON true
  LEFT JOIN LATERAL (
    SELECT * FROM sluice.attempts a
    WHERE a.message_id = d.message_id AND a.number = coalesce(made.number, open.last_number, counted.number) LIMIT 1
  ) last ON true`;

/** $1 the account, $2 the message. At least one row if the message exists. */
export const DELIVERIES_OF_MESSAGE = `
  WITH message AS (
    SELECT id, status FROM sluice.messages WHERE id = $2 AND account_id = $1
  ), d AS (
    SELECT message_id, endpoint_id, CASE WHEN due_at IS NULL THEN 'failed' ELSE 'pending' END AS status
    FROM sluice.endpoint_deliveries WHERE message_id = $2 AND (SELECT status FROM message) <> '${TRANSITIONS.cancel.to}'
    UNION ALL
    SELECT message_id, target, 'delivered' FROM sluice.attempts
    WHERE message_id = $2 AND outcome = 'delivered' AND starts_with(target, 'ep_')
  ), shown AS (${SHOWN}, e.url, e.description
    FROM d ${PARTS} LEFT JOIN sluice.endpoints e ON e.id = d.endpoint_id AND e.account_id = $1
  )
  SELECT shown.* FROM message LEFT JOIN shown ON true ORDER BY "endpointId"`;

/** The parameters are those of `deliveriesTo`. Attempts are read of the deliveries that are shown. */
export const deliveriesOfEndpoint = (status: EndpointDeliveryStatus | null): string => `${SHOWN}
  FROM (SELECT message_id, status, $5::text AS endpoint_id FROM (${deliveriesTo(status)}) page) d ${PARTS}
  ORDER BY d.message_id DESC`;
