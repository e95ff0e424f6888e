-- Keys that were revoked or have expired are kept, and an account can replace its keys as often as its plan allows: what
-- looks for the others must not read those.
CREATE INDEX api_keys_unrevoked ON sluice.api_keys (account_id, id) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_live ON sluice.api_keys (account_id, coalesce(expires_at, 'infinity')) WHERE revoked_at IS NULL;
DROP INDEX sluice.api_keys_by_account;
