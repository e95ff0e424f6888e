ALTER TABLE sluice.accounts
  -- What the operator's own systems call the account.
  ADD COLUMN external_id text COLLATE "C",
  -- An operator has deleted it. To everybody it is gone; the row is removed once nothing else is left.
  ADD COLUMN deleting boolean NOT NULL DEFAULT false;
CREATE UNIQUE INDEX accounts_external_id ON sluice.accounts (external_id);

CREATE TRIGGER account_deleted BEFORE UPDATE OF deleting
  ON sluice.accounts FOR EACH ROW EXECUTE FUNCTION sluice.move_epoch();

-- Of a deleted account, also the keys that were revoked are removed.
CREATE INDEX api_keys_by_account ON sluice.api_keys (account_id, id);

-- The account that the response to an operator, or to a sign-up, is about.
ALTER TABLE sluice.kept_responses ADD COLUMN account_id text COLLATE "C";
CREATE INDEX kept_responses_by_account ON sluice.kept_responses (account_id, key_hash) WHERE account_id IS NOT NULL;

-- Accounts that were deleted. What is stored of one is removed in the background, and last its id here. The digest stays:
-- a process that was stopped since may still try to store something.
CREATE TABLE sluice.deleted_accounts (
  -- SHA-256 of the id.
  digest bytea PRIMARY KEY CHECK (length(digest) = 32),
  -- Null once nothing of the account is left.
  account_id text COLLATE "C" UNIQUE,
  requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- How many times everything was found removed, and when to look again: see PostgresDeletions.
  passes smallint NOT NULL DEFAULT 0,
  next_pass_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The process that removes what is stored, and until when no other one does.
  worker uuid,
  worker_until timestamptz
);

-- For the statements of other contexts.
CREATE FUNCTION sluice.is_account_deleted(account text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM sluice.deleted_accounts WHERE digest = sha256(convert_to(account, 'UTF8')))
$$;
