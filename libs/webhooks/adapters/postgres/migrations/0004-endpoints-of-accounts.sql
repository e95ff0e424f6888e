-- The statement that stores a message for webhooks reads to which endpoints of its account it goes.
CREATE OR REPLACE VIEW sluice.enabled_endpoints AS SELECT id, account_id FROM sluice.endpoints WHERE enabled;
