-- Announces to all processes, as PostgresAvailability does, that messages of an account may be delivered again. The
-- payload begins with the origin of an announcement, which is empty for the database.
CREATE FUNCTION sluice.announce_resumed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('sluice_available', ' webhooks ' || NEW.id);
  RETURN NULL;
END $$;

CREATE TRIGGER account_resumed AFTER UPDATE OF suspended, paused ON sluice.accounts FOR EACH ROW
  WHEN ((OLD.suspended OR OLD.paused) AND NOT (NEW.suspended OR NEW.paused))
  EXECUTE FUNCTION sluice.announce_resumed();
