-- Each list reads its page from this index, whatever its filter: see read-messages.sql.ts. It replaces the one without
-- the status, which a filter that matches little would walk, so that storing a message costs the same.
CREATE INDEX messages_by_status ON sluice.messages (account_id, status, id);
DROP INDEX sluice.messages_by_account, sluice.messages_failed;
