-- The lines of an account are those of one delivery mode, until it changes its mode: from then on, a delivery also waits for
-- those with its key that were accepted before it in another mode.
ALTER TABLE sluice.accounts ADD COLUMN has_changed_delivery boolean NOT NULL DEFAULT false;

CREATE FUNCTION sluice.note_changed_delivery() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.has_changed_delivery := true;
  RETURN NEW;
END $$;

CREATE TRIGGER delivery_changed BEFORE UPDATE OF delivery ON sluice.accounts FOR EACH ROW
  WHEN (OLD.delivery <> NEW.delivery) EXECUTE FUNCTION sluice.note_changed_delivery();

-- The lines of the other modes of the account of a line. The endpoints of an account wait for none of each other.
CREATE FUNCTION sluice.other_lines(of_line text) RETURNS SETOF text LANGUAGE sql STABLE AS $$
  WITH account AS (
    SELECT id FROM sluice.accounts
    WHERE has_changed_delivery AND id = CASE WHEN of_line LIKE '% %' THEN split_part(of_line, ' ', 1)
      ELSE (SELECT account_id FROM sluice.endpoints WHERE id = of_line) END
  )
  SELECT id || mode FROM account CROSS JOIN (VALUES (' handler'), (' pull')) modes (mode) WHERE id || mode <> of_line
  UNION ALL
  SELECT e.id FROM account JOIN sluice.endpoints e ON e.account_id = account.id WHERE of_line LIKE '% %'
$$;

-- The lines of other modes in which deliveries with the same keys wait or are made.
CREATE FUNCTION sluice.others_of(lines text[], keys text[]) RETURNS TABLE (other text, key text) LANGUAGE sql STABLE AS $$
  SELECT DISTINCT o.line, t.key
  FROM (SELECT DISTINCT line FROM unnest(lines) AS line WHERE line IS NOT NULL) of
  CROSS JOIN LATERAL sluice.other_lines(of.line) AS other_line
  JOIN unnest(lines, keys) AS t (line, key) ON t.line = of.line
  CROSS JOIN LATERAL (
    SELECT d.line FROM sluice.ordered_deliveries d WHERE d.line = other_line AND d.ordering_key = t.key LIMIT 1
  ) o
$$;

-- Whether a delivery waits for one of another mode.
CREATE FUNCTION sluice.must_wait(of_line text, of_key text, of_position bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM sluice.other_lines(of_line) AS other JOIN sluice.ordered_deliveries o
      ON o.line = other AND o.ordering_key = of_key AND o.position < of_position)
$$;

-- The functions of 0006-order, with what that needs. release_first no longer runs an UPDATE that changes nothing.

CREATE OR REPLACE FUNCTION sluice.take_positions(ids text[], lines text[], keys text[], dues timestamptz[])
RETURNS TABLE (message_id text, line text, "position" bigint, released boolean) LANGUAGE plpgsql STRICT AS $$
#variable_conflict use_column
BEGIN
  PERFORM sluice.lock_lines(lines || array_agg(other), keys || array_agg(key)) FROM sluice.others_of(lines, keys);
  -- The last of a line is found without those that have left it.
  RETURN QUERY
  WITH members AS MATERIALIZED (
    SELECT * FROM unnest(ids, lines, keys, dues) WITH ORDINALITY AS t (id, line, key, due_at, place)
  ), numbered AS MATERIALIZED (
    SELECT id, nextval('sluice.positions') AS position
    FROM (SELECT id FROM members GROUP BY id ORDER BY min(place)) one
  ), joined AS (
    INSERT INTO sluice.ordered_deliveries (line, ordering_key, position, message_id, released, due_at)
    SELECT line, key, position, id, CASE WHEN number = 1 THEN (
             SELECT o.position FROM sluice.ordered_deliveries o
             WHERE o.line = m.line AND o.ordering_key = m.key ORDER BY o.position DESC LIMIT 1
           ) IS NULL AND NOT sluice.must_wait(line, key, position) ELSE false END, due_at
    FROM (SELECT *, row_number() OVER (PARTITION BY line, key ORDER BY place) AS number FROM members) m
    JOIN numbered USING (id) WHERE line IS NOT NULL
    RETURNING message_id, line, position, released
  )
  SELECT * FROM joined
  UNION ALL
  SELECT id, NULL, position, true FROM members JOIN numbered USING (id) WHERE line IS NULL;
END $$;

CREATE OR REPLACE FUNCTION sluice.release_first(lines text[], keys text[], since bigint[], by_sweeper boolean)
RETURNS TABLE (entry_id bigint, message_ids text[], available text) LANGUAGE plpgsql STRICT AS $$
#variable_conflict use_column
DECLARE
  ids text[];
  dues timestamptz[];
  mode text;
  found_ids text[];
  sizes integer[];
  found_dues timestamptz[];
  taken_back text[];
  remaining integer;
BEGIN
  LOOP
    WITH firsts AS MATERIALIZED (
      SELECT first.* FROM unnest(lines, keys, since) AS t (line, key, since) CROSS JOIN LATERAL (
        SELECT line, ordering_key, position FROM sluice.ordered_deliveries o
        WHERE o.line = t.line AND o.ordering_key = t.key AND o.position >= t.since ORDER BY o.position LIMIT 1
      ) first
      WHERE NOT sluice.must_wait(first.line, first.ordering_key, first.position)
    ), released AS (
      UPDATE sluice.ordered_deliveries o SET released = true, waiting_since = NULL
      FROM firsts f WHERE o.line = f.line AND o.ordering_key = f.ordering_key AND o.position = f.position
      RETURNING o.*
    )
    SELECT array_agg(line), array_agg(ordering_key), array_agg(position), array_agg(message_id),
           array_agg(greatest(due_at, clock_timestamp()))
    INTO lines, keys, since, ids, dues FROM released;
    EXIT WHEN ids IS NULL;
    remaining := cardinality(ids);

    FOR mode IN SELECT DISTINCT split_part(line, ' ', 2) FROM unnest(lines) AS line LOOP
      CASE mode
      WHEN 'handler' THEN
        SELECT array_agg(m.id), array_agg(octet_length(m.text) + coalesce(octet_length(m.metadata::text), 0) + 512),
               array_agg(due_at), array_agg(m.id) FILTER (WHERE m.next_attempt_at = 'infinity')
        INTO found_ids, sizes, found_dues, taken_back
        FROM unnest(lines, ids, dues) AS t (line, id, due_at) JOIN sluice.messages m USING (id)
        WHERE m.id = ANY (ids) AND t.line LIKE '% handler' AND m.status IN ('queued', 'processing');
        CONTINUE WHEN found_ids IS NULL;
        remaining := remaining - cardinality(found_ids);
        -- Not always: an UPDATE runs the triggers of the table, even if it changes nothing.
        IF taken_back IS NOT NULL THEN
          UPDATE sluice.messages SET next_attempt_at = NULL WHERE id = ANY (taken_back) AND next_attempt_at = 'infinity';
        END IF;
        RETURN QUERY
          WITH entries AS (
            INSERT INTO sluice.outbox AS o (message_ids, bytes, due_at, for_sweeper)
            SELECT array_agg(id), sum(bytes), coalesce(later, clock_timestamp()), by_sweeper OR later IS NOT NULL
            FROM (
              SELECT id, bytes, CASE WHEN due_at > clock_timestamp() THEN due_at END AS later,
                     sum(bytes) OVER (ORDER BY id) / 1048576 AS entry
              FROM unnest(found_ids, sizes, found_dues) AS t (id, bytes, due_at)
            ) sized
            GROUP BY later, entry
            RETURNING o.id, o.message_ids, o.for_sweeper
          )
          SELECT id, message_ids, NULL::text FROM entries WHERE NOT for_sweeper;
      WHEN 'pull' THEN
        WITH started AS (
          UPDATE sluice.messages m SET available_at = t.due_at
          FROM unnest(lines, ids, dues) AS t (line, id, due_at)
          WHERE m.id = ANY (ids) AND m.id = t.id AND t.line LIKE '% pull' AND m.available_at = 'infinity'
          RETURNING m.account_id
        )
        SELECT array_agg(account_id) INTO found_ids FROM started;
        CONTINUE WHEN found_ids IS NULL;
        remaining := remaining - cardinality(found_ids);
        RETURN QUERY SELECT DISTINCT NULL::bigint, NULL::text[], account_id FROM unnest(found_ids) AS account_id;
      ELSE
        WITH started AS (
          UPDATE sluice.endpoint_deliveries d SET due_at = t.due_at, ready = t.due_at <= clock_timestamp()
          FROM unnest(lines, ids, dues) AS t (line, id, due_at)
          WHERE d.message_id = ANY (ids) AND d.message_id = t.id AND d.endpoint_id = t.line AND d.due_at = 'infinity'
          RETURNING d.message_id
        )
        SELECT array_agg(message_id) INTO found_ids FROM started;
        CONTINUE WHEN found_ids IS NULL;
        remaining := remaining - cardinality(found_ids);
        RETURN QUERY SELECT NULL::bigint, NULL::text[], 'webhooks';
      END CASE;
    END LOOP;

    EXIT WHEN remaining = 0;
    -- Some have ended without leaving their line, such as with their account: the next ones take their place.
    WITH left_behind AS (
      DELETE FROM sluice.ordered_deliveries o USING unnest(lines, keys, since) AS t (line, key, position)
      WHERE o.line = t.line AND o.ordering_key = t.key AND o.position = t.position
        AND NOT sluice.is_open(o.line, o.message_id)
      RETURNING o.*
    )
    SELECT array_agg(line), array_agg(ordering_key), array_agg(position) INTO lines, keys, since FROM left_behind;
    EXIT WHEN lines IS NULL;
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION sluice.leave_lines(lines text[], keys text[], positions bigint[])
RETURNS TABLE (entry_id bigint, message_ids text[], available text) LANGUAGE plpgsql STRICT AS $$
#variable_conflict use_column
DECLARE
  since bigint[];
  left_lines constant text[] := lines;
  left_keys constant text[] := keys;
  others text[];
BEGIN
  SELECT array_agg(other), array_agg(key) INTO others, keys FROM sluice.others_of(lines, keys);
  PERFORM sluice.lock_lines(left_lines || others, left_keys || keys);
  keys := left_keys;
  WITH gone AS (
    DELETE FROM sluice.ordered_deliveries o USING unnest(lines, keys, positions) AS t (line, key, position)
    WHERE o.line = t.line AND o.ordering_key = t.key AND o.position = t.position
    RETURNING o.*
  )
  SELECT array_agg(line), array_agg(ordering_key), array_agg(least(position, waiting_since)) INTO lines, keys, since
  FROM gone WHERE released;
  RETURN QUERY SELECT * FROM sluice.release_first(lines, keys, since, false);
  -- What waited in another mode for one of them, or behind one that did.
  IF others IS NULL THEN RETURN; END IF;
  SELECT array_agg(t.line), array_agg(t.key), array_agg(0) INTO lines, keys, since
  FROM (
    SELECT other AS line, key FROM sluice.others_of(left_lines, left_keys)
    UNION
    SELECT * FROM unnest(left_lines, left_keys)
  ) t (line, key)
  WHERE NOT EXISTS (
    SELECT FROM sluice.ordered_deliveries o WHERE o.line = t.line AND o.ordering_key = t.key AND o.released);
  RETURN QUERY SELECT * FROM sluice.release_first(lines, keys, since, false);
END $$;

CREATE OR REPLACE FUNCTION sluice.is_stuck(of_line text, of_key text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT (
    SELECT CASE WHEN o.line LIKE '% %'
      THEN EXISTS (SELECT FROM sluice.messages m WHERE m.id = o.message_id AND m.status IN ('queued', 'processing')
                     AND m.available_at IS DISTINCT FROM 'infinity' AND m.next_attempt_at IS DISTINCT FROM 'infinity')
      ELSE EXISTS (SELECT FROM sluice.endpoint_deliveries d
                   WHERE d.message_id = o.message_id AND d.endpoint_id = o.line AND d.due_at < 'infinity') END
    FROM sluice.ordered_deliveries o
    WHERE o.line = of_line AND o.ordering_key = of_key AND o.released ORDER BY o.position LIMIT 1
  ) IS NOT TRUE AND NOT EXISTS (
    SELECT FROM (
      SELECT * FROM sluice.ordered_deliveries o WHERE o.line = of_line AND o.ordering_key = of_key ORDER BY o.position LIMIT 1
    ) first
    WHERE NOT released AND sluice.must_wait(line, ordering_key, position)
  )
$$;
