ALTER TABLE sluice.messages
  ADD COLUMN type text COLLATE "C" CHECK (length(type) BETWEEN 1 AND 128),
  -- Not jsonb: it is returned as it was sent.
  ADD COLUMN metadata json,
  ADD COLUMN ordering_key text COLLATE "C" CHECK (length(ordering_key) BETWEEN 1 AND 128);
