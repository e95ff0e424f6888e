-- Moves when requests go to another URL, and when the endpoint is enabled again: what was answered to a request before says
-- nothing about the endpoint now. A trigger counts, so that processes of the version before need not.
ALTER TABLE sluice.endpoints ADD COLUMN revision integer NOT NULL DEFAULT 0;

CREATE FUNCTION sluice.revise_endpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.revision := OLD.revision + 1;
  RETURN NEW;
END $$;

CREATE TRIGGER endpoint_revised BEFORE UPDATE OF url, enabled ON sluice.endpoints
  FOR EACH ROW WHEN (OLD.url <> NEW.url OR (NEW.enabled AND NOT OLD.enabled))
  EXECUTE FUNCTION sluice.revise_endpoint();
