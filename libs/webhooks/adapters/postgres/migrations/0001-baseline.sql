CREATE TABLE sluice.endpoints (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES sluice.accounts,
  url text NOT NULL,
  description text NOT NULL,
  rate_limit_per_second integer NOT NULL CHECK (rate_limit_per_second >= 0),
  enabled boolean NOT NULL,
  created_at timestamptz NOT NULL,
  disabled_at timestamptz,
  disabled_reason text CHECK (disabled_reason IN ('by_account', 'gone', 'failing')),
  failing_since timestamptz,
  -- Encrypted, the current one first: [{"sealed": {"keyId", "box"}, "expiresAt"}].
  secrets jsonb NOT NULL,
  -- The requests that workers have started in a second, of endpoints with a limit.
  rate_second timestamptz,
  rate_taken integer,
  CHECK (enabled = (disabled_at IS NULL)),
  CHECK (enabled = (disabled_reason IS NULL))
);
CREATE INDEX endpoints_by_account ON sluice.endpoints (account_id, id);

-- Processes cache which endpoints an account has enabled until its epoch changes.
CREATE FUNCTION sluice.move_epoch_of_endpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE sluice.accounts SET epoch = epoch + 1 WHERE id = coalesce(NEW.account_id, OLD.account_id);
  RETURN NULL;
END $$;

CREATE TRIGGER endpoint_changed AFTER INSERT OR DELETE OR UPDATE OF enabled ON sluice.endpoints
  FOR EACH ROW EXECUTE FUNCTION sluice.move_epoch_of_endpoint();

-- Which endpoints count: the statement that stores a message reads to which it goes, and it need not reach others.
CREATE VIEW sluice.enabled_endpoints AS SELECT id, account_id FROM sluice.endpoints WHERE enabled;

-- Endpoints that were disabled or deleted, until no delivery waits for them any more.
CREATE TABLE sluice.ended_endpoints (
  id text COLLATE "C" PRIMARY KEY,
  reason text NOT NULL CHECK (reason IN ('endpoint_disabled', 'endpoint_deleted'))
);

CREATE FUNCTION sluice.note_end_of_endpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    INSERT INTO sluice.ended_endpoints VALUES (OLD.id, 'endpoint_deleted')
    ON CONFLICT (id) DO UPDATE SET reason = excluded.reason;
  ELSIF NEW.enabled THEN
    DELETE FROM sluice.ended_endpoints WHERE id = NEW.id;
  ELSIF OLD.enabled THEN
    INSERT INTO sluice.ended_endpoints VALUES (NEW.id, 'endpoint_disabled') ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER endpoint_ended AFTER DELETE OR UPDATE OF enabled ON sluice.endpoints
  FOR EACH ROW EXECUTE FUNCTION sluice.note_end_of_endpoint();

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
  -- The time of the delivery has come. Endpoints with such deliveries are found without reading those of others.
  ready boolean NOT NULL DEFAULT false,
  -- Why a delivery ended that does not count against its message, because its endpoint was not enabled any more.
  abandoned text,
  PRIMARY KEY (message_id, endpoint_id),
  CHECK ((token IS NULL) = (number IS NULL)),
  CHECK ((token IS NULL) = (started_at IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX endpoint_deliveries_pending ON sluice.endpoint_deliveries (ready, endpoint_id, due_at)
  WHERE due_at IS NOT NULL;
CREATE INDEX endpoint_deliveries_waiting ON sluice.endpoint_deliveries (due_at) WHERE due_at IS NOT NULL AND NOT ready;
CREATE INDEX endpoint_deliveries_failed ON sluice.endpoint_deliveries (endpoint_id, message_id) WHERE due_at IS NULL;
