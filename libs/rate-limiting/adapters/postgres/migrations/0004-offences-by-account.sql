CREATE INDEX offences_by_account ON sluice.offences (account_id, key_id);
