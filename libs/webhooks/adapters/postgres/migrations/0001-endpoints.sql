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
