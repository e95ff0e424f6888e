-- When the failures of an endpoint are forgotten if no other one follows. Null while processes of the version before note them.
ALTER TABLE sluice.endpoints ADD COLUMN failing_until timestamptz;
-- Nothing is known of when those failed last.
UPDATE sluice.endpoints SET failing_until = now() + interval '2 days' WHERE failing_since IS NOT NULL;
