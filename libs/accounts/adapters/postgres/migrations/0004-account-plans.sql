-- For the statements of other contexts.
CREATE VIEW sluice.account_plans AS SELECT id, plan FROM sluice.accounts;
