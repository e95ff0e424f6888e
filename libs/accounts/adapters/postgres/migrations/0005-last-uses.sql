-- Keys are updated in place (HOT) when they were used: their rows are in three indexes, which would all get a new entry.
-- Pages that are full now get room as their rows are updated.
ALTER TABLE sluice.api_keys SET (fillfactor = 50);
