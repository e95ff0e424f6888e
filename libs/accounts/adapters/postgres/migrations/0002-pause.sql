ALTER TABLE sluice.accounts ADD COLUMN paused boolean NOT NULL DEFAULT false;
CREATE INDEX accounts_halted ON sluice.accounts (id) WHERE suspended OR paused;

-- Accounts of which nothing is delivered. For the statements of other contexts.
CREATE VIEW sluice.halted_accounts AS SELECT id FROM sluice.accounts WHERE suspended OR paused;
-- Read by workers of version 0.1.0, which so hold back the messages of paused accounts as well.
CREATE OR REPLACE VIEW sluice.suspended_accounts AS SELECT id FROM sluice.halted_accounts;
