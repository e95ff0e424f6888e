-- Who listens to the changes of an account's messages: each stream has one of the account's places, and renews it. A row
-- is updated every few seconds, and needs space for new versions on its page.
CREATE TABLE sluice.event_streams (
  account_id text COLLATE "C" NOT NULL,
  place integer NOT NULL,
  token uuid NOT NULL,
  open_until timestamptz NOT NULL,
  PRIMARY KEY (account_id, place)
) WITH (fillfactor = 50);

-- Changes of status, of accounts that listen or did within the last hour. What else an event shows of its message never
-- changes, and is read from there. The ids of one message's events are in the order of its changes, because its row is
-- locked; those of several transactions become visible in any order.
CREATE TABLE sluice.events (
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  id bigint GENERATED ALWAYS AS IDENTITY,
  account_id text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  status text NOT NULL,
  updated_at timestamptz NOT NULL,
  attempts integer NOT NULL,
  failure_reason text,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (xid, id)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX events_by_account ON sluice.events (account_id, id, xid);

-- Triggers, so that no way of delivery, present or future, can forget to record a change. The statements are planned each
-- time, for as many rows as there are: a plan made for one row would join a thousand by comparing each with each.
--
-- An event belongs to the part of the log that has the number of its transaction. When the transaction that changed its
-- message before has a higher number, it belongs to that one's part: the log may end between the two, and would show
-- the later change first. A new message has no earlier change to look for.
CREATE FUNCTION sluice.record_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM sluice.event_streams WHERE open_until > now() - interval '1 hour') THEN
    EXECUTE $sql$
      INSERT INTO sluice.events (xid, account_id, message_id, status, updated_at, attempts, failure_reason)
      SELECT $sql$ || CASE TG_OP WHEN 'UPDATE' THEN $sql$
             greatest(pg_current_xact_id(), (
               SELECT e.xid FROM sluice.events e WHERE e.xid > pg_current_xact_id() AND e.message_id = n.id
               ORDER BY e.xid DESC LIMIT 1
             )) $sql$ ELSE 'pg_current_xact_id()' END || $sql$,
             account_id, n.id, n.status, updated_at, attempts, failure_reason
      FROM new_rows n $sql$ || CASE TG_OP WHEN 'UPDATE' THEN $sql$
      JOIN (SELECT id, status AS before FROM old_rows) o ON o.id = n.id AND before <> n.status $sql$ ELSE '' END || $sql$
      WHERE account_id IN (SELECT account_id FROM sluice.event_streams WHERE open_until > now() - interval '1 hour')
      ORDER BY n.id $sql$;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER messages_added AFTER INSERT ON sluice.messages
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION sluice.record_events();
CREATE TRIGGER messages_changed AFTER UPDATE ON sluice.messages
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION sluice.record_events();
