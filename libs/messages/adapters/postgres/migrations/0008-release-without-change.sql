-- Releases the first delivery of each key, from a position on. Its caller has locked the keys. A delivery that has ended
-- nevertheless is left out. Returns outbox entries to relay, if no sweeper is to do that, and what to announce.
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
