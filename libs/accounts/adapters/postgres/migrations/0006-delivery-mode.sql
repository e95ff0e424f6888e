-- Of messages that are accepted from now on. Callers carry it, so that a change moves the epoch.
ALTER TABLE sluice.accounts ADD COLUMN delivery text NOT NULL DEFAULT 'handler'
  CHECK (delivery IN ('handler', 'webhooks', 'pull'));

CREATE OR REPLACE TRIGGER account_changed BEFORE UPDATE OF plan, per_minute, per_day, suspended, delivery
  ON sluice.accounts FOR EACH ROW EXECUTE FUNCTION sluice.move_epoch();
