-- What an endpoint still has to get, and what it has got, newest message first: lists read only what they show. What it
-- has missed is in endpoint_deliveries_failed.
CREATE INDEX endpoint_deliveries_waiting_by_endpoint ON sluice.endpoint_deliveries (endpoint_id, message_id)
  WHERE due_at IS NOT NULL;
CREATE INDEX attempts_delivered_to_endpoint ON sluice.attempts (target, message_id)
  WHERE outcome = 'delivered' AND starts_with(target, 'ep_');
