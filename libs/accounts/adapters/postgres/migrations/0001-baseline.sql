CREATE TABLE sluice.accounts (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  plan text NOT NULL CHECK (plan IN ('free', 'pro', 'business', 'enterprise')),
  per_minute integer NOT NULL CHECK (per_minute > 0),
  per_day integer NOT NULL CHECK (per_day > 0),
  -- Incremented by every change of the account or one of its keys; a cached key of an older epoch is loaded again.
  epoch bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  suspended boolean NOT NULL DEFAULT false,
  -- Of messages that are accepted from now on. Callers carry it, so that a change moves the epoch.
  delivery text NOT NULL DEFAULT 'handler' CHECK (delivery IN ('handler', 'webhooks', 'pull'))
);
CREATE INDEX accounts_suspended ON sluice.accounts (id) WHERE suspended;

-- For the statements of other contexts.
CREATE VIEW sluice.suspended_accounts AS SELECT id FROM sluice.accounts WHERE suspended;
CREATE VIEW sluice.account_plans AS SELECT id, plan FROM sluice.accounts;

-- Keys are updated in place (HOT) when they were used: their rows are in several indexes, which would all get a new
-- entry. Half of each page is kept free for that.
CREATE TABLE sluice.api_keys (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES sluice.accounts,
  name text NOT NULL,
  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  -- A rotated key expires when its grace ends. Its successors get the expiry that it was created with.
  rotated_at timestamptz,
  created_to_expire_at timestamptz
) WITH (fillfactor = 50);
-- Keys that were revoked or have expired are kept, and an account can replace its keys as often as its plan allows: what
-- looks for the others must not read those.
CREATE INDEX api_keys_unrevoked ON sluice.api_keys (account_id, id) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_live ON sluice.api_keys (account_id, coalesce(expires_at, 'infinity')) WHERE revoked_at IS NULL;

-- Triggers, so that changes made by hand increment the epoch as well.
CREATE FUNCTION sluice.move_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'accounts' THEN
    NEW.epoch := OLD.epoch + 1;
    RETURN NEW;
  END IF;
  UPDATE sluice.accounts SET epoch = epoch + 1 WHERE id = OLD.account_id;
  RETURN NULL;
END $$;

CREATE TRIGGER account_changed BEFORE UPDATE OF plan, per_minute, per_day, suspended, delivery
  ON sluice.accounts FOR EACH ROW EXECUTE FUNCTION sluice.move_epoch();
CREATE TRIGGER key_changed AFTER UPDATE OF account_id, hash, scopes, expires_at, revoked_at OR DELETE
  ON sluice.api_keys FOR EACH ROW EXECUTE FUNCTION sluice.move_epoch();

-- Responses to requests with an Idempotency-Key that changed something other than messages. Neither that key nor what the
-- response contains can be read from it: the one is hashed, the other encrypted under a key that is derived from it.
CREATE TABLE sluice.kept_responses (
  -- An account, the operators, or an address.
  scope text COLLATE "C" NOT NULL,
  key_hash bytea NOT NULL CHECK (length(key_hash) = 32),
  fingerprint bytea NOT NULL CHECK (length(fingerprint) = 32),
  sealed bytea NOT NULL,
  stored_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (scope, key_hash)
);
CREATE INDEX kept_responses_by_age ON sluice.kept_responses (stored_at);
