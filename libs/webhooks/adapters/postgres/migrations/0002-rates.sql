-- The requests that workers have started in a second, of endpoints with a limit.
ALTER TABLE sluice.endpoints ADD COLUMN rate_second timestamptz, ADD COLUMN rate_taken integer;
