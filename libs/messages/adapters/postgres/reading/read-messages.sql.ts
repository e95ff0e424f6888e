import { MAX_ATTEMPTS, MAX_PAGE_BYTES } from '../../../application/messages.js';
import type { EndpointDeliveryStatus } from '../../../domain/endpoint-delivery-status.js';
import { TRANSITIONS } from '../../../domain/message-status.js';
import { DayStatement } from '../day-statement.js';
import { hasEndpoints } from '../delivery-mode.sql.js';
import { deliveriesTo } from '../endpoints/deliveries-to.sql.js';
import { contentBytes } from '../message-size.sql.js';
import { COLUMNS } from '../message-row.js';
import { messagesOf, ordered, type MessageIndex } from './message-index.sql.js';
import { shownColumns } from './shown-columns.sql.js';

export const FIND_MESSAGES = new DayStatement(
  'messages',
  (isOfDay) =>
    `SELECT ${shownColumns('m')} FROM sluice.messages m WHERE id = ANY ($1::text[])${isOfDay('id')} AND account_id = $2`,
);

/** What `shownColumns` needs. */
const READ = `${COLUMNS}, available_at`;

/** The most that a character takes in UTF-8. */
const CHARACTER_BYTES = 4;

/**
 * A page of messages. The text of what does not fit is never read: its length is known without it.
 * @param preview the parameter with the number of characters to which texts are cut; null leaves them whole
 */
function pageOf(newest: string, order: string, preview: string): string {
  const shown = shownColumns('page').replace('page.text', 'coalesce(preview, page.text) AS text');
  const bytes = contentBytes().replace('octet_length(text)', `least($&, ${CHARACTER_BYTES} * ${preview})`);
  return `
  SELECT ${shown}, more, bytes, octet_length(page.text) > octet_length(preview) IS TRUE AS cut
  FROM (
    SELECT *, sum((${bytes})::float8) OVER newest AS bytes, row_number() OVER newest AS place,
           lead(id) OVER newest IS NOT NULL AS more
    FROM (${newest}) newest
    WINDOW newest AS (ORDER BY ${order})
  ) page CROSS JOIN LATERAL (SELECT left(page.text, ${preview}::int) AS preview) previews
  WHERE place <= $3 AND (bytes <= ${MAX_PAGE_BYTES} OR place = 1)
  ORDER BY ${order}`;
}

/**
 * $1: the account, $2: all ids are below, $3: the limit, $4: no id is below, $5: the type in an index by type, then the
 * statuses, then the characters of a preview. The lists of several statuses are merged: only the first of each is read ahead.
 */
export function listMessages(index: MessageIndex, first: number, statuses: number): string {
  const newest = Array.from(
    { length: statuses },
    (_, place) => `${messagesOf(index, READ, `$${first + place}`, 'DESC')} LIMIT $3 + 1`,
  );
  const order = ordered(index.order, 'DESC');
  const [only = ''] = newest;
  const preview = `$${first + statuses}`;
  if (newest.length === 1) return pageOf(only, order, preview);
  const all = newest.map((list) => `(${list})`).join(' UNION ALL ');
  return pageOf(`SELECT * FROM (${all}) merged ORDER BY ${order} LIMIT $3 + 1`, order, preview);
}

/**
 * The same for the messages with a delivery to an endpoint, $5, with previews of $6 characters. Each is looked up by its
 * id: for a join, a planner would walk the messages of all accounts in the order of the page.
 * @param status of the delivery, null for any
 */
export const listMessagesTo = (status: EndpointDeliveryStatus | null): string =>
  pageOf(
    `
  SELECT m.* FROM (${deliveriesTo(status)}) d CROSS JOIN LATERAL (
    SELECT ${READ} FROM sluice.messages WHERE id = d.message_id LIMIT 1
  ) m
  ORDER BY d.message_id DESC`,
    'account_id DESC, id DESC',
    '$6',
  );

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
