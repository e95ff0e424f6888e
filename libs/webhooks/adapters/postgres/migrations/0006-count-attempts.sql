-- A list of deliveries shows how many attempts each has had, and the last one, without reading the others. Null: unknown, of
-- deliveries that were stored before, whose attempts are counted.
ALTER TABLE sluice.endpoint_deliveries
  -- Attempts that have begun.
  ADD COLUMN attempts integer,
  -- The number of the last one that has ended.
  ADD COLUMN last_number integer;
ALTER TABLE sluice.endpoint_deliveries ALTER COLUMN attempts SET DEFAULT 0;

-- How many attempts its endpoint has had with this one.
ALTER TABLE sluice.attempts ADD COLUMN of_target integer;
