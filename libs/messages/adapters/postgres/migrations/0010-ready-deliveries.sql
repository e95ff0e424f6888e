-- `ready`: the time of the delivery has come. Endpoints with such deliveries are found without reading those of others.
-- `abandoned`: why a delivery ended that does not count against its message, because its endpoint was not enabled any more.
ALTER TABLE sluice.endpoint_deliveries
  ADD COLUMN ready boolean NOT NULL DEFAULT false,
  ADD COLUMN abandoned text;
CREATE INDEX endpoint_deliveries_pending ON sluice.endpoint_deliveries (ready, endpoint_id, due_at)
  WHERE due_at IS NOT NULL;
CREATE INDEX endpoint_deliveries_waiting ON sluice.endpoint_deliveries (due_at) WHERE due_at IS NOT NULL AND NOT ready;
DROP INDEX sluice.endpoint_deliveries_due;
