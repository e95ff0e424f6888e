-- Deliveries to endpoints that are still to be made or have failed for good. One that has succeeded is removed, so that
-- the table is as small as what waits.
CREATE TABLE sluice.endpoint_deliveries (
  message_id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  -- When the next attempt may start; while one runs, when its lease ends; null once it has failed for good.
  due_at timestamptz,
  failures integer NOT NULL DEFAULT 0,
  -- The running attempt.
  token uuid,
  number integer,
  started_at timestamptz,
  PRIMARY KEY (message_id, endpoint_id),
  CHECK ((token IS NULL) = (number IS NULL)),
  CHECK ((token IS NULL) = (started_at IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX endpoint_deliveries_due ON sluice.endpoint_deliveries (endpoint_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX endpoint_deliveries_failed ON sluice.endpoint_deliveries (endpoint_id, message_id) WHERE due_at IS NULL;
