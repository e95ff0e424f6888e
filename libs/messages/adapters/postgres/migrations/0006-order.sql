-- The place of a message among those with its ordering key, for life. Ids can't give it: they come from the clocks of APIs.
ALTER TABLE sluice.messages ADD COLUMN position bigint;
CREATE SEQUENCE sluice.positions;

-- The open deliveries of messages with an ordering key, by line: that of an account and a delivery mode, such as
-- `acct_… pull`, or that of an endpoint. Of each key in a line, one delivery is released: it may be made. A delivery that
-- is not released has no outbox entry, an infinite `available_at`, or an infinite `due_at`.
CREATE TABLE sluice.ordered_deliveries (
  line text COLLATE "C" NOT NULL,
  ordering_key text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  released boolean NOT NULL,
  -- It may be made from then on, once it is released; null for at once.
  due_at timestamptz,
  -- Of a released one: all that wait before it, because they were retried after it began, are at this position or later.
  waiting_since bigint,
  PRIMARY KEY (line, ordering_key, position)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

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

-- Each function that changes lines is volatile, so that its statements see what was committed while it waited for a lock,
-- and the changes of the statement that calls it. They are strict, and so do nothing for the null of an aggregate without
-- rows.

-- Locks keys in lines until the end of the transaction. A second call in a transaction must lock some of the same ones, or
-- it could deadlock. Above a number of keys it locks all, since the server's memory for locks is limited.
CREATE FUNCTION sluice.lock_lines(lines text[], keys text[]) RETURNS void LANGUAGE plpgsql STRICT AS $$
DECLARE
  everything constant bigint := hashtextextended('sluice.ordered_deliveries', 0);
  locks bigint[] := ARRAY(
    SELECT DISTINCT hashtextextended(line || ' ' || key, 0) FROM unnest(lines, keys) AS t (line, key)
    WHERE line IS NOT NULL ORDER BY 1);
BEGIN
  IF cardinality(locks) > 100 THEN
    PERFORM pg_advisory_xact_lock(everything);
  ELSE
    PERFORM pg_advisory_xact_lock_shared(everything);
    PERFORM pg_advisory_xact_lock(lock) FROM unnest(locks) AS lock;
  END IF;
END $$;

-- Gives new messages their positions, in the order of the arrays, and adds them to lines. A message is repeated for each of
-- its lines; with a null line it only gets a position.
CREATE FUNCTION sluice.take_positions(ids text[], lines text[], keys text[], dues timestamptz[])
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

-- Releases the first delivery of each key, from a position on. Its caller has locked the keys. A delivery that has ended
-- nevertheless is left out. Returns outbox entries to relay, if no sweeper is to do that, and what to announce.
CREATE FUNCTION sluice.release_first(lines text[], keys text[], since bigint[], by_sweeper boolean)
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

-- Whether a delivery of a line is still to be made.
CREATE FUNCTION sluice.is_open(line text, id text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN line LIKE '% %'
    THEN EXISTS (SELECT FROM sluice.messages m WHERE m.id = $2 AND m.status IN ('queued', 'processing'))
    ELSE EXISTS (SELECT FROM sluice.endpoint_deliveries d
                 WHERE d.message_id = $2 AND d.endpoint_id = $1 AND d.due_at IS NOT NULL) END
$$;

-- Removes deliveries that have ended from their lines, and releases those behind them. Returns what release_first does.
CREATE FUNCTION sluice.leave_lines(lines text[], keys text[], positions bigint[])
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

-- The same for messages that were cancelled, and for their deliveries to endpoints. A delivery that is locked is about to be
-- leased: whoever has locked it waits for the message, and then finds it cancelled.
CREATE FUNCTION sluice.leave_lines_of(ids text[])
RETURNS TABLE (entry_id bigint, message_ids text[], available text) LANGUAGE plpgsql STRICT AS $$
#variable_conflict use_column
DECLARE
  lines text[];
  keys text[];
  positions bigint[];
BEGIN
  -- What changes which deliveries a message has locks it first.
  SELECT array_agg(coalesce(endpoint_id, m.account_id || ' ' || m.delivery)), array_agg(m.ordering_key)
  INTO lines, keys
  FROM sluice.messages m LEFT JOIN sluice.endpoint_deliveries d ON d.message_id = m.id AND d.due_at IS NOT NULL
  WHERE m.id = ANY (ids) AND m.position IS NOT NULL;
  PERFORM sluice.lock_lines(lines, keys);
  WITH waiting AS (
    SELECT message_id, endpoint_id FROM sluice.endpoint_deliveries
    WHERE message_id = ANY (ids) AND due_at IS NOT NULL FOR UPDATE SKIP LOCKED
  ), dropped AS (
    DELETE FROM sluice.endpoint_deliveries d USING waiting w
    WHERE d.message_id = ANY (ids) AND d.message_id = w.message_id AND d.endpoint_id = w.endpoint_id
    RETURNING d.message_id, d.endpoint_id
  )
  SELECT array_agg(coalesce(endpoint_id, m.account_id || ' ' || m.delivery)), array_agg(m.ordering_key), array_agg(m.position)
  INTO lines, keys, positions
  FROM sluice.messages m LEFT JOIN dropped d ON d.message_id = m.id
  WHERE m.id = ANY (ids) AND m.position IS NOT NULL AND (endpoint_id IS NOT NULL OR m.delivery <> 'webhooks');
  RETURN QUERY SELECT * FROM sluice.leave_lines(lines, keys, positions);
END $$;

-- Puts deliveries that start anew back into their places; their caller has stored them as not released. One that was
-- released behind them and has not begun is taken back; one that has begun keeps them waiting. Returns what release_first
-- does, and a row with only the messages whose jobs were taken back.
CREATE FUNCTION sluice.rejoin_lines(lines text[], keys text[], positions bigint[], ids text[], dues timestamptz[],
                                    by_sweeper boolean)
RETURNS TABLE (entry_id bigint, message_ids text[], available text) LANGUAGE plpgsql STRICT AS $$
#variable_conflict use_column
DECLARE
  firsts bigint[];
  heads text[];
  head_positions bigint[];
  taken_back text[];
  jobs text[];
  deliveries text[];
BEGIN
  PERFORM sluice.lock_lines(lines, keys);
  INSERT INTO sluice.ordered_deliveries (line, ordering_key, position, message_id, released, due_at)
  SELECT line, key, position, id, false, due_at
  FROM unnest(lines, keys, positions, ids, dues) AS t (line, key, position, id, due_at)
  ON CONFLICT DO NOTHING;

  SELECT array_agg(line), array_agg(key), array_agg(first), array_agg(head), array_agg(head_position)
  INTO lines, keys, firsts, heads, head_positions
  FROM (
    SELECT line, key, min(position) AS first FROM unnest(lines, keys, positions) AS t (line, key, position)
    GROUP BY line, key
  ) t LEFT JOIN LATERAL (
    SELECT o.message_id AS head, o.position AS head_position FROM sluice.ordered_deliveries o
    WHERE o.line = t.line AND o.ordering_key = t.key AND o.released ORDER BY o.position LIMIT 1
  ) o ON true
  WHERE head_position IS NULL OR head_position > first;
  IF lines IS NULL THEN RETURN; END IF;

  -- Rows that are locked begin or end at this moment.
  WITH waiting AS (
    SELECT m.id FROM sluice.messages m JOIN unnest(lines, heads) AS t (line, head) ON m.id = t.head
    WHERE m.id = ANY (heads) AND t.line LIKE '% %' AND m.status = 'queued' AND m.failure_reason IS NULL
    FOR UPDATE OF m SKIP LOCKED
  ), withheld AS (
    UPDATE sluice.messages m
    SET available_at = CASE WHEN m.available_at IS NOT NULL THEN 'infinity'::timestamptz END,
        next_attempt_at = CASE WHEN m.available_at IS NULL THEN 'infinity'::timestamptz END
    FROM waiting w WHERE m.id = ANY (heads) AND m.id = w.id
    RETURNING m.id, m.account_id || ' ' || m.delivery AS line, m.available_at IS NULL AS has_job
  )
  SELECT array_agg(line || ' ' || id), array_agg(id) FILTER (WHERE has_job) INTO taken_back, jobs FROM withheld;
  WITH waiting AS (
    SELECT d.message_id, d.endpoint_id FROM sluice.endpoint_deliveries d
    JOIN unnest(lines, heads) AS t (line, head) ON d.message_id = t.head AND d.endpoint_id = t.line
    WHERE d.message_id = ANY (heads) AND d.token IS NULL AND d.failures = 0 AND d.due_at IS NOT NULL
    FOR UPDATE OF d SKIP LOCKED
  ), withheld AS (
    UPDATE sluice.endpoint_deliveries d SET due_at = 'infinity', ready = false
    FROM waiting w WHERE d.message_id = ANY (heads) AND d.message_id = w.message_id AND d.endpoint_id = w.endpoint_id
    RETURNING d.message_id, d.endpoint_id
  )
  SELECT array_agg(endpoint_id || ' ' || message_id) INTO deliveries FROM withheld;
  taken_back := taken_back || deliveries;

  WITH kept AS (
    UPDATE sluice.ordered_deliveries o
    SET released = (line || ' ' || message_id = ANY (taken_back)) IS NOT TRUE,
        waiting_since = least(waiting_since, t.first)
    FROM unnest(lines, keys, firsts, head_positions) AS t (of_line, key, first, head_position)
    WHERE o.line = t.of_line AND o.ordering_key = t.key AND o.position = t.head_position
    RETURNING line, ordering_key, waiting_since AS first, released
  ), free AS (
    SELECT line, ordering_key, first FROM kept WHERE NOT released
    UNION ALL
    SELECT line, key, first FROM unnest(lines, keys, firsts, head_positions) AS t (line, key, first, head_position)
    WHERE head_position IS NULL
  )
  SELECT array_agg(line), array_agg(ordering_key), array_agg(first) INTO lines, keys, firsts FROM free;
  RETURN QUERY SELECT * FROM sluice.release_first(lines, keys, firsts, by_sweeper);
  IF jobs IS NOT NULL THEN RETURN QUERY SELECT NULL::bigint, jobs, NULL::text; END IF;
END $$;

-- Whether of a key in a line no delivery is released, or the released one has ended or was not started. Whether a job is
-- left is not looked at: the search for stray messages finds out.
CREATE FUNCTION sluice.is_stuck(of_line text, of_key text) RETURNS boolean LANGUAGE sql STABLE AS $$
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

-- The next keys after one, and whether each is stuck.
CREATE FUNCTION sluice.inspect_lines(after_line text, after_key text, max integer)
RETURNS TABLE (line text, ordering_key text, is_stuck boolean) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH RECURSIVE ordered AS (
    (SELECT o.line, o.ordering_key, 1 AS number FROM sluice.ordered_deliveries o
     WHERE (o.line, o.ordering_key) > (after_line, after_key) ORDER BY o.line, o.ordering_key LIMIT 1)
    UNION ALL
    SELECT following.*, number + 1 FROM ordered CROSS JOIN LATERAL (
      SELECT o.line, o.ordering_key FROM sluice.ordered_deliveries o
      WHERE (o.line, o.ordering_key) > (ordered.line, ordered.ordering_key) ORDER BY o.line, o.ordering_key LIMIT 1
    ) following
    WHERE number < max
  )
  SELECT k.line, k.ordering_key, sluice.is_stuck(k.line, k.ordering_key) FROM ordered k;
END $$;

-- Releases the first delivery of keys of which none is on its way.
CREATE FUNCTION sluice.heal_lines(lines text[], keys text[])
RETURNS TABLE (entry_id bigint, message_ids text[], available text) LANGUAGE plpgsql STRICT AS $$
#variable_conflict use_column
BEGIN
  PERFORM sluice.lock_lines(lines, keys);
  SELECT array_agg(t.line), array_agg(t.key) INTO lines, keys
  FROM unnest(lines, keys) AS t (line, key) WHERE sluice.is_stuck(t.line, t.key);
  IF lines IS NULL THEN RETURN; END IF;
  UPDATE sluice.ordered_deliveries o SET released = false
  FROM unnest(lines, keys) AS t (line, key) WHERE o.line = t.line AND o.ordering_key = t.key AND o.released;
  RETURN QUERY SELECT * FROM sluice.release_first(lines, keys, array_fill(0::bigint, ARRAY[cardinality(lines)]), true);
END $$;
