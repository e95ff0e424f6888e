import { TRANSITIONS } from '../../domain/message-status.js';
import { BYTES } from './message-row.js';

/**
 * One group commit: idempotency keys, and for each message whose key is new (or that has none) its row and a common
 * outbox entry; scheduled messages share one for each time, and messages without a job have none. The key of a request is
 * in the row of its first message; all its messages name that one as their `head`, so that they are stored together or not
 * at all.
 *
 * Keys are always inserted in the same order, so that two processes with the same keys can't deadlock; the second one
 * waits for the commit of the first and then inserts nothing.
 *
 * @param ofAnyMode whether some of the messages are for webhooks or to be pulled; otherwise all are for handlers
 */
function addMessages(ofAnyMode: boolean): string {
  const also = (sql: string): string => (ofAnyMode ? sql : '');
  const status = ofAnyMode ? `CASE WHEN failure_reason IS NULL THEN $11 ELSE '${TRANSITIONS.fail.to}' END` : '$11';
  return `
  WITH input AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::text[],
                         $8::bytea[], $9::text[], $10::timestamptz[]${also(', $12::text[], $13::text[]')})
      AS t (id, account_id, text, created_at, traceparent, head, key, fingerprint, batch, deliver_at
            ${also(', delivery, failure_reason')})
  ), first_uses AS (
    INSERT INTO sluice.idempotency_keys (account_id, key, fingerprint, message_id, message_ids, created_at)
    SELECT account_id, key, fingerprint, id, batch::text[], created_at FROM input WHERE key IS NOT NULL
    ORDER BY account_id, key
    ON CONFLICT DO NOTHING
    RETURNING message_id
  ), accepted AS (
    INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at, traceparent, deliver_at
                                 ${also(', delivery, available_at, failure_reason')})
    SELECT id, account_id, text, ${status}, created_at, created_at, traceparent, deliver_at
           ${also(`, delivery, CASE delivery WHEN 'pull' THEN greatest(deliver_at, now()) END, failure_reason`)}
    FROM input
    WHERE head IS NULL OR head IN (SELECT message_id FROM first_uses)
    RETURNING id, account_id, delivery, ${BYTES} AS bytes, CASE WHEN deliver_at > now() THEN deliver_at END AS due_at
  ), entries AS (
    INSERT INTO sluice.outbox (message_ids, bytes, due_at, for_sweeper)
    SELECT array_agg(id), sum(bytes), coalesce(due_at, clock_timestamp()), due_at IS NOT NULL
    FROM accepted ${also(`WHERE delivery = 'handler'`)} GROUP BY due_at
    RETURNING id, message_ids, for_sweeper
  )${also(`, deliveries AS (
    INSERT INTO sluice.endpoint_deliveries (message_id, endpoint_id, account_id, due_at, ready)
    SELECT id, endpoint_id, account_id, coalesce(due_at, clock_timestamp()), due_at IS NULL
    FROM unnest($14::text[], $15::text[]) AS t (id, endpoint_id) JOIN accepted USING (id)
  )`)}
  SELECT id, message_ids, for_sweeper FROM entries
  ${also(`UNION ALL
  SELECT NULL, array_agg(id), NULL FROM accepted WHERE delivery <> 'handler' HAVING count(*) > 0`)}`;
}

/** $1 to $11. Only messages for handlers: these, which are most, do not pay for the others. */
export const ADD_HANDLER_MESSAGES = addMessages(false);

/** $1 to $15: the modes and the reasons of failures, then the deliveries to endpoints by message. */
export const ADD_MESSAGES = addMessages(true);
