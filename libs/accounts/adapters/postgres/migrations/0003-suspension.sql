ALTER TABLE sluice.accounts ADD COLUMN suspended boolean NOT NULL DEFAULT false;
CREATE INDEX accounts_suspended ON sluice.accounts (id) WHERE suspended;

CREATE OR REPLACE TRIGGER account_changed BEFORE UPDATE OF plan, per_minute, per_day, suspended ON sluice.accounts
  FOR EACH ROW EXECUTE FUNCTION sluice.move_epoch();

-- For the statements of other contexts.
CREATE VIEW sluice.suspended_accounts AS SELECT id FROM sluice.accounts WHERE suspended;
