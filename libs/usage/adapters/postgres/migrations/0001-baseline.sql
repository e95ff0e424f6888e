-- What accounts have sent, by the hour in which it was accepted. It outlives the messages and the account. A row of the
-- present hour is updated every few seconds, and needs space for new versions on its page.
CREATE TABLE sluice.usage (
  account_id text COLLATE "C" NOT NULL,
  start timestamptz NOT NULL CHECK (start = date_trunc('hour', start, 'UTC')),
  -- In UTC. The indexes have it, so that lists of hours and of days read their page in order.
  day date NOT NULL GENERATED ALWAYS AS ((start AT TIME ZONE 'UTC')::date) STORED,
  accepted bigint NOT NULL,
  accepted_bytes bigint NOT NULL,
  delivered bigint NOT NULL,
  failed bigint NOT NULL,
  cancelled bigint NOT NULL,
  -- When to look again how its messages have ended; null when none of them can change.
  recount_at timestamptz,
  PRIMARY KEY (account_id, day, start)
) WITH (fillfactor = 70);
CREATE INDEX usage_by_day ON sluice.usage (day, account_id, start);
CREATE INDEX usage_by_hour ON sluice.usage (day, start, account_id);
CREATE INDEX usage_to_recount ON sluice.usage (recount_at) WHERE recount_at IS NOT NULL;

-- One row. Messages are counted in the order of their ids, which begin with their time.
CREATE TABLE sluice.usage_progress (
  -- All messages up to this id are counted, except those in usage_late.
  counted text COLLATE "C" NOT NULL,
  -- A message up to this id that is stored from now on is late: the count may have passed it.
  closing text COLLATE "C" NOT NULL,
  began_at timestamptz NOT NULL,
  CHECK (counted <= closing)
) WITH (fillfactor = 50);
INSERT INTO sluice.usage_progress VALUES ('', '', '-infinity');

-- Messages that came late, such as from a process that had stopped for a while, or whose clock is behind.
CREATE TABLE sluice.usage_late (
  message_id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  noted_at timestamptz NOT NULL DEFAULT now()
);

-- A trigger, so that no way of storing messages can forget it, nor a process of an earlier version.
CREATE FUNCTION sluice.note_late_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sluice.usage_late (message_id, account_id, created_at)
  SELECT id, account_id, created_at FROM new_rows WHERE id <= (SELECT closing FROM sluice.usage_progress);
  RETURN NULL;
END $$;

CREATE TRIGGER messages_late AFTER INSERT ON sluice.messages
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION sluice.note_late_messages();
