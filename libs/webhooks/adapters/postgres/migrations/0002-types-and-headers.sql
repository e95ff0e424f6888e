ALTER TABLE sluice.endpoints
  -- Patterns of the types of messages that it gets; none: all.
  ADD COLUMN types text[] NOT NULL DEFAULT '{}',
  -- The headers that are sent along as JSON, encrypted: {"keyId", "box"}.
  ADD COLUMN headers jsonb,
  ADD COLUMN header_names text[] NOT NULL DEFAULT '{}',
  ADD CHECK ((headers IS NULL) = (header_names = '{}'));

CREATE OR REPLACE VIEW sluice.enabled_endpoints AS
SELECT id, account_id, CASE types WHEN '{}' THEN '{*}' ELSE types END AS types FROM sluice.endpoints WHERE enabled;

-- The patterns that match the type of a message, null for none.
CREATE FUNCTION sluice.type_patterns(type text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN type IS NULL THEN '{*}' ELSE
    ARRAY(SELECT array_to_string(words[:count], '.') || '.*' FROM generate_series(1, cardinality(words) - 1) AS count)
    || type || CASE words[1] WHEN 'sluice' THEN '{}'::text[] ELSE '{*}' END
  END FROM string_to_array(type, '.') AS words
$$;
