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
