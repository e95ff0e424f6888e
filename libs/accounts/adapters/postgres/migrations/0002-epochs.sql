-- Triggers, so that changes made by hand increment the epoch as well.
CREATE FUNCTION sluice.move_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'accounts' THEN
    NEW.epoch := OLD.epoch + 1;
    RETURN NEW;
  END IF;
  UPDATE sluice.accounts SET epoch = epoch + 1 WHERE id = OLD.account_id;
  RETURN NULL;
END $$;

CREATE TRIGGER account_changed BEFORE UPDATE OF plan, per_minute, per_day ON sluice.accounts
  FOR EACH ROW EXECUTE FUNCTION sluice.move_epoch();
CREATE TRIGGER key_changed AFTER UPDATE OF account_id, hash, scopes, expires_at, revoked_at OR DELETE
  ON sluice.api_keys FOR EACH ROW EXECUTE FUNCTION sluice.move_epoch();
