-- Endpoints that were disabled, enabled or deleted, or whose types have changed, until no delivery waits for them in vain.
ALTER TABLE sluice.ended_endpoints
  ADD COLUMN noted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  DROP CONSTRAINT ended_endpoints_reason_check,
  ADD CONSTRAINT ended_endpoints_reason_check
    CHECK (reason IN ('endpoint_disabled', 'endpoint_deleted', 'endpoint_types_changed'));

-- One that is enabled again may have got other types meanwhile.
CREATE OR REPLACE FUNCTION sluice.note_end_of_endpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.enabled = NEW.enabled AND OLD.types = NEW.types THEN RETURN NULL; END IF;
  INSERT INTO sluice.ended_endpoints (id, reason)
  VALUES (OLD.id, CASE WHEN TG_OP = 'DELETE' THEN 'endpoint_deleted' WHEN NEW.enabled THEN 'endpoint_types_changed'
                       ELSE 'endpoint_disabled' END)
  ON CONFLICT (id) DO UPDATE SET reason = excluded.reason, noted_at = excluded.noted_at;
  RETURN NULL;
END $$;

DROP TRIGGER endpoint_ended ON sluice.endpoints;
CREATE TRIGGER endpoint_ended AFTER DELETE OR UPDATE OF enabled, types ON sluice.endpoints
  FOR EACH ROW EXECUTE FUNCTION sluice.note_end_of_endpoint();
