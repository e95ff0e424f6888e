-- Partitions belong to the owner of the schema. These functions add, empty and remove them for processes whose role has no
-- more than the rights to read and write. Their callers pass the days and the lowest ids of a period; each does nothing
-- if another process is changing partitions, and fails if a lock is not available soon.
CREATE FUNCTION sluice.add_period(begins text, ends text, low text, high text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  parent text;
BEGIN
  PERFORM set_config('lock_timeout', '200', true);
  IF NOT pg_try_advisory_xact_lock(hashtext('sluice.partitions')) THEN RETURN; END IF;
  IF (SELECT max(substring(relname, 19, 8)) FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
      WHERE inhparent = 'sluice.messages'::regclass AND relname ~ '^messages_\d{8}_\d{8}$') IS DISTINCT FROM begins
  THEN RETURN; END IF;
  LOCK TABLE ONLY sluice.messages, ONLY sluice.attempts IN ACCESS EXCLUSIVE MODE;
  FOREACH parent IN ARRAY ARRAY['messages', 'attempts'] LOOP
    EXECUTE format(
      'ALTER TABLE sluice.%1$I DETACH PARTITION sluice.%2$I;
       CREATE TABLE sluice.%3$I PARTITION OF sluice.%1$I FOR VALUES FROM (%4$L) TO (%5$L);
       WITH moved AS (DELETE FROM sluice.%2$I WHERE %6$I < %5$L RETURNING *) INSERT INTO sluice.%3$I SELECT * FROM moved;
       ALTER TABLE sluice.%1$I ATTACH PARTITION sluice.%2$I FOR VALUES FROM (%5$L) TO (MAXVALUE)',
      parent, parent || '_after', parent || '_' || begins || '_' || ends, low, high,
      CASE parent WHEN 'messages' THEN 'id' ELSE 'message_id' END);
  END LOOP;
END $$;

-- Whether it has removed messages: not while one of the period is open, by any of the conditions of the indexes of those.
CREATE FUNCTION sluice.empty_period(begins text, ends text, low text, high text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  period text := begins || '_' || ends;
  is_open text := format(
    'SELECT EXISTS (SELECT FROM sluice.%1$I WHERE status IN (''queued'', ''processing'') AND delivery = ''handler'')
         OR EXISTS (SELECT FROM sluice.%1$I WHERE status IN (''queued'', ''processing'') AND delivery = ''webhooks'')
         OR EXISTS (SELECT FROM sluice.%1$I WHERE available_at IS NOT NULL)', 'messages_' || period);
  is_filled text := format('SELECT EXISTS (SELECT FROM sluice.%I)', 'messages_' || period);
  found boolean;
BEGIN
  PERFORM set_config('lock_timeout', '200', true);
  IF NOT pg_try_advisory_xact_lock(hashtext('sluice.partitions')) THEN RETURN false; END IF;
  IF to_regclass(format('sluice.%I', 'messages_' || period)) IS NULL THEN RETURN false; END IF;
  EXECUTE is_filled INTO found;
  IF NOT found THEN RETURN false; END IF;
  -- First without a lock: a message may stay open for long.
  EXECUTE is_open INTO found;
  IF found THEN RETURN false; END IF;
  EXECUTE format('LOCK TABLE sluice.%I, sluice.%I IN ACCESS EXCLUSIVE MODE', 'messages_' || period, 'attempts_' || period);
  EXECUTE is_open INTO found;
  IF found THEN RETURN false; END IF;
  EXECUTE format('TRUNCATE sluice.%I, sluice.%I', 'messages_' || period, 'attempts_' || period);
  DELETE FROM sluice.endpoint_deliveries WHERE message_id >= low AND message_id < high;
  DELETE FROM sluice.storage WHERE day >= begins::date AND day < ends::date;
  RETURN true;
END $$;

-- Removes the oldest period, if it is empty.
CREATE FUNCTION sluice.remove_period(begins text, ends text, high text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  period text := begins || '_' || ends;
  is_filled text := format('SELECT EXISTS (SELECT FROM sluice.%I)', 'messages_' || period);
  found boolean;
  parent text;
BEGIN
  PERFORM set_config('lock_timeout', '200', true);
  IF NOT pg_try_advisory_xact_lock(hashtext('sluice.partitions')) THEN RETURN; END IF;
  IF (SELECT min(substring(relname, 10, 8)) FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
      WHERE inhparent = 'sluice.messages'::regclass AND relname ~ '^messages_\d{8}_\d{8}$') IS DISTINCT FROM begins
  THEN RETURN; END IF;
  EXECUTE is_filled INTO found;
  IF found THEN RETURN; END IF;
  DELETE FROM sluice.storage WHERE day >= begins::date AND day < ends::date;
  LOCK TABLE ONLY sluice.messages, ONLY sluice.attempts IN ACCESS EXCLUSIVE MODE;
  EXECUTE is_filled INTO found;
  IF found THEN RETURN; END IF;
  FOREACH parent IN ARRAY ARRAY['messages', 'attempts'] LOOP
    EXECUTE format(
      'ALTER TABLE sluice.%1$I DETACH PARTITION sluice.%2$I;
       DROP TABLE sluice.%3$I;
       ALTER TABLE sluice.%1$I ATTACH PARTITION sluice.%2$I FOR VALUES FROM (MINVALUE) TO (%4$L)',
      parent, parent || '_before', parent || '_' || period, high);
  END LOOP;
END $$;

-- They remove messages: not everybody who can connect may call them.
REVOKE ALL ON FUNCTION sluice.add_period, sluice.empty_period, sluice.remove_period FROM PUBLIC;
