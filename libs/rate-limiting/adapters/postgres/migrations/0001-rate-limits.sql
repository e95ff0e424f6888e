-- Updated by every batch of requests: half of each page stays free for new row versions (HOT updates).
CREATE TABLE sluice.rate_limits (
  account_id text COLLATE "C" PRIMARY KEY,
  minute_used integer NOT NULL DEFAULT 0,
  minute_ends_ms bigint NOT NULL DEFAULT 0,
  day_used integer NOT NULL DEFAULT 0,
  day_ends_ms bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- Contains only keys that were refused.
CREATE TABLE sluice.offences (
  key_id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  refusing_window_ends_ms bigint NOT NULL DEFAULT 0,
  strikes_from_ms bigint NOT NULL DEFAULT 0,
  strikes integer NOT NULL DEFAULT 0,
  strikes_end_ms bigint NOT NULL DEFAULT 0,
  bans integer NOT NULL DEFAULT 0,
  banned_at_ms bigint NOT NULL DEFAULT 0,
  banned_until_ms bigint NOT NULL DEFAULT 0,
  reason text
) WITH (fillfactor = 50);
