-- Which endpoints count: a message need not reach others.
CREATE VIEW sluice.enabled_endpoints AS SELECT id FROM sluice.endpoints WHERE enabled;

-- Endpoints that were disabled or deleted, until no delivery waits for them any more.
CREATE TABLE sluice.ended_endpoints (
  id text COLLATE "C" PRIMARY KEY,
  reason text NOT NULL CHECK (reason IN ('endpoint_disabled', 'endpoint_deleted'))
);
INSERT INTO sluice.ended_endpoints SELECT id, 'endpoint_disabled' FROM sluice.endpoints WHERE NOT enabled;

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
