-- The bounds of each partition of messages as a constraint, by which a statement about messages of one day is planned for
-- one partition: see day-statement.ts. The collation is the one in which these statements compare.
CREATE OR REPLACE FUNCTION sluice.add_period(begins text, ends text, low text, high text) RETURNS void
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
  EXECUTE format(
    'ALTER TABLE sluice.%1$I ADD CONSTRAINT bounds CHECK (id COLLATE "POSIX" >= %2$L AND id COLLATE "POSIX" < %3$L);
     ALTER TABLE sluice.messages_after
       DROP CONSTRAINT IF EXISTS bounds, ADD CONSTRAINT bounds CHECK (id COLLATE "POSIX" >= %3$L)',
    'messages_' || begins || '_' || ends, low, high);
END $$;

CREATE OR REPLACE FUNCTION sluice.remove_period(begins text, ends text, high text) RETURNS void
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
  EXECUTE format(
    'ALTER TABLE sluice.messages_before
       DROP CONSTRAINT IF EXISTS bounds, ADD CONSTRAINT bounds CHECK (id COLLATE "POSIX" < %L)', high);
END $$;

-- A partition that has messages already gets none: it would be read as a whole meanwhile, and is removed some day.
DO $$
DECLARE
  partition record;
  is_filled boolean;
BEGIN
  FOR partition IN
    SELECT relname, (regexp_match(bound, 'FROM \((''.*?'')\)'))[1] AS low, (regexp_match(bound, 'TO \((''.*?'')\)'))[1] AS high
    FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid CROSS JOIN pg_get_expr(relpartbound, c.oid) AS bound
    WHERE inhparent = 'sluice.messages'::regclass
  LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM sluice.%I)', partition.relname) INTO is_filled;
    CONTINUE WHEN is_filled;
    EXECUTE format('ALTER TABLE sluice.%I ADD CONSTRAINT bounds CHECK (%s)', partition.relname,
      concat_ws(' AND ', 'id COLLATE "POSIX" >= ' || partition.low, 'id COLLATE "POSIX" < ' || partition.high));
  END LOOP;
END $$;
