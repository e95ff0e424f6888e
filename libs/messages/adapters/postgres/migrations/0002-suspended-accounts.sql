-- The account for the end of whose suspension an entry waits, with `due_at` infinite until then.
ALTER TABLE sluice.outbox ADD COLUMN suspended_account text COLLATE "C";
CREATE INDEX outbox_suspended ON sluice.outbox (suspended_account) WHERE suspended_account IS NOT NULL;
