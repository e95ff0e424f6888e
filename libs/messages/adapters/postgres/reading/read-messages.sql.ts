import { MAX_ATTEMPTS, MAX_PAGE_BYTES } from '../../../application/messages.js';
import { MESSAGE_STATUSES, TRANSITIONS } from '../../../domain/message-status.js';
import { hasEndpoints } from '../delivery-mode.sql.js';
import { COLUMNS, contentBytes } from '../message-row.js';

export const FIND_MESSAGES = `SELECT ${COLUMNS} FROM sluice.messages WHERE id = ANY ($1::text[]) AND account_id = $2`;

/**
 * The newest messages of an account that have a status, by `messages_by_status`. Only this index has the order, since
 * the account is a range; and only it has all statuses, since they are parameters. A planner that expects most messages
 * to match would walk the primary key, one that expects few would read all of them and sort.
 */
const newestOf = (status: string) => `
  SELECT ${COLUMNS} FROM sluice.messages
  WHERE account_id >= $1 AND account_id <= $1 AND status = ${status} AND id < $2
  ORDER BY account_id DESC, id DESC LIMIT $3 + 1`;

/** A page of them. The text of what does not fit is never read: its length is known without it. */
const pageOf = (newest: string) => `
  SELECT ${COLUMNS}, more, bytes FROM (
    SELECT *, sum((${contentBytes()})::float8) OVER newest AS bytes, row_number() OVER newest AS place,
           lead(id) OVER newest IS NOT NULL AS more
    FROM (${newest}) newest
    WINDOW newest AS (ORDER BY account_id DESC, id DESC)
  ) page
  WHERE place <= $3 AND (bytes <= ${MAX_PAGE_BYTES} OR place = 1)
  ORDER BY account_id DESC, id DESC`;

/** $1: the account, $2: all ids are below, $3: the limit, $4: the status. */
export const LIST_MESSAGES_WITH_STATUS = pageOf(newestOf('$4'));

/** The same for all statuses, from $4 on. Their lists are merged: only the first of each is read ahead. */
export const LIST_MESSAGES = pageOf(`
  SELECT * FROM (${MESSAGE_STATUSES.map((_status, index) => `(${newestOf(`$${4 + index}`)})`).join(' UNION ALL ')}) merged
  ORDER BY account_id DESC, id DESC LIMIT $3 + 1`);

/**
 * The same for the messages that were not delivered to an endpoint, $4. Each is looked up by its id: for a join, a
 * planner would walk the messages of all accounts in the order of the page.
 */
export const LIST_MISSED_MESSAGES = pageOf(`
  SELECT m.* FROM sluice.endpoint_deliveries d CROSS JOIN LATERAL (
    SELECT ${COLUMNS} FROM sluice.messages WHERE id = d.message_id LIMIT 1
  ) m
  WHERE d.endpoint_id = $4 AND d.due_at IS NULL AND d.account_id = $1 AND d.message_id < $2
    AND m.status <> '${TRANSITIONS.cancel.to}'
  ORDER BY d.message_id DESC LIMIT $3 + 1`);

/** At least one row if the message exists. */
export const LIST_ATTEMPTS = `
  WITH message AS (
    SELECT * FROM sluice.messages WHERE id = $1 AND account_id = $2
  ), newest AS (
    SELECT number, target, started_at AS "startedAt",
           CASE WHEN ended_at IS NOT NULL THEN
             round(extract(epoch FROM greatest(ended_at, started_at) - started_at) * 1000)::float8
           END AS "durationMs", outcome, error, response_status AS "responseStatus", response_body AS "responseBody"
    FROM sluice.attempts WHERE message_id = $1
    UNION ALL
    SELECT attempts, delivery, updated_at, NULL, 'running', NULL, NULL, NULL
    FROM message WHERE status = '${TRANSITIONS.startProcessing.to}' AND NOT (${hasEndpoints('delivery')})
    UNION ALL
    SELECT number, endpoint_id, started_at, NULL, 'running', NULL, NULL, NULL
    FROM sluice.endpoint_deliveries WHERE message_id = $1 AND number IS NOT NULL
    ORDER BY number DESC LIMIT ${MAX_ATTEMPTS}
  )
  SELECT newest.* FROM message LEFT JOIN newest ON true ORDER BY number`;
