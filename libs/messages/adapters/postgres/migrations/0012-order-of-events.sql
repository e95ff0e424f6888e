-- An event belongs to the part of the log that has the number of its transaction. When the transaction that changed its
-- message before has a higher number, it belongs to that one's part: the log may end between the two, and would show
-- the later change first. A new message has no earlier change to look for.
CREATE OR REPLACE FUNCTION sluice.record_events() RETURNS trigger LANGUAGE plpgsql AS $$
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
