import type { EndpointDeliveryStatus } from '../../../domain/endpoint-delivery-status.js';
import { TRANSITIONS } from '../../../domain/message-status.js';

const SPAN = 'message_id < $2 AND message_id >= $4';
const NEWEST = 'ORDER BY message_id DESC LIMIT $3 + 1';

/** Those that are open or have failed. What is left of a cancelled or removed message is not shown. */
const kept = (status: EndpointDeliveryStatus, condition: string): string => `
  SELECT message_id, '${status}' AS status FROM sluice.endpoint_deliveries d
  WHERE endpoint_id = $5 AND ${condition} AND account_id = $1 AND ${SPAN}
    AND (SELECT m.status FROM sluice.messages m WHERE m.id = d.message_id LIMIT 1) <> '${TRANSITIONS.cancel.to}'
  ${NEWEST}`;

/** Each is found by an index of its own. Whether a target is an endpoint is a condition of the index. */
const LISTS: Readonly<Record<EndpointDeliveryStatus, string>> = {
  pending: kept('pending', 'due_at IS NOT NULL'),
  delivered: `
  SELECT message_id, 'delivered' AS status FROM sluice.attempts
  WHERE target = $5 AND starts_with(target, 'ep_') AND outcome = 'delivered' AND account_id = $1 AND ${SPAN}
  ${NEWEST}`,
  failed: kept('failed', 'due_at IS NULL'),
};

/**
 * The messages of an account with a delivery to an endpoint, newest first, as rows with `message_id` and the `status` of
 * the delivery: one more than the limit, if there are so many.
 *
 * $1 the account, $2 all ids are below, $3 the limit, $4 no id is below, $5 the endpoint.
 * @param status null for any
 */
export function deliveriesTo(status: EndpointDeliveryStatus | null): string {
  if (status !== null) return LISTS[status];
  const lists = Object.values(LISTS).map((list) => `(${list})`);
  return `SELECT * FROM (${lists.join(' UNION ALL ')}) merged ${NEWEST}`;
}
