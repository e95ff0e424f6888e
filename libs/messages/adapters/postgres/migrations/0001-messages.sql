CREATE TABLE sluice.messages (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  text text NOT NULL CHECK (octet_length(text) BETWEEN 1 AND 262144),
  status text NOT NULL CHECK (status IN ('queued', 'processing', 'delivered', 'failed', 'cancelled')),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  crashes integer NOT NULL DEFAULT 0,
  lone_crashes integer NOT NULL DEFAULT 0,
  retries integer NOT NULL DEFAULT 0,
  failure_reason text,
  claim uuid,
  claim_expires_at timestamptz,
  claim_alone boolean NOT NULL DEFAULT false,
  traceparent text,
  deliver_at timestamptz,
  CHECK ((status = 'processing') = (claim IS NOT NULL)),
  CHECK ((claim IS NULL) = (claim_expires_at IS NULL))
) PARTITION BY RANGE (id);
-- Ids sort by time, so this serves both the list of an account and its pages.
CREATE INDEX messages_by_account ON sluice.messages (account_id, id);
CREATE INDEX messages_failed ON sluice.messages (account_id, id) WHERE status = 'failed';
-- For the census, which must not read delivered messages.
CREATE INDEX messages_open ON sluice.messages (id) WHERE status IN ('queued', 'processing');
CREATE INDEX messages_queued ON sluice.messages (account_id, coalesce(deliver_at, created_at)) WHERE status = 'queued';

-- Attempts that have ended; a running one is part of its message. The statement that ends an attempt inserts its row.
CREATE TABLE sluice.attempts (
  message_id text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  started_at timestamptz NOT NULL,
  ended_at timestamptz,
  outcome text NOT NULL CHECK (outcome IN ('delivered', 'retried', 'failed', 'lost')),
  error text,
  PRIMARY KEY (message_id, number),
  CHECK ((outcome = 'lost') = (ended_at IS NULL))
) PARTITION BY RANGE (message_id);
CREATE INDEX attempts_delivered ON sluice.attempts (account_id, ended_at) WHERE outcome = 'delivered';

-- The first partition ends a week from now. Every id has a partition, whatever clock it comes from; a default partition
-- would do that as well, but lists could then not be read in the order of the partitions. Hours, because days depend on
-- the time zone of the session: one with a clock change would not end at midnight in UTC.
DO $$
DECLARE
  ends timestamptz := date_trunc('day', now(), 'UTC') + interval '192 hours';
  ends_ms bigint := extract(epoch FROM ends) * 1000;
  period text := '19700101_' || to_char(ends AT TIME ZONE 'UTC', 'YYYYMMDD');
  lowest text := 'msg_' || repeat('0', 26);
  -- The lowest TypeID of that time: its milliseconds as the first 10 of 26 base32 characters.
  highest text := 'msg_' || (
    SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', (ends_ms >> (5 * place) & 31)::int + 1, 1), ''
                      ORDER BY place DESC)
    FROM generate_series(0, 9) AS place
  ) || repeat('0', 16);
  parent text;
BEGIN
  FOREACH parent IN ARRAY ARRAY['messages', 'attempts'] LOOP
    EXECUTE format('CREATE TABLE sluice.%I PARTITION OF sluice.%I FOR VALUES FROM (MINVALUE) TO (%L)',
                   parent || '_before', parent, lowest);
    EXECUTE format('CREATE TABLE sluice.%I PARTITION OF sluice.%I FOR VALUES FROM (%L) TO (%L)',
                   parent || '_' || period, parent, lowest, highest);
    EXECUTE format('CREATE TABLE sluice.%I PARTITION OF sluice.%I FOR VALUES FROM (%L) TO (MAXVALUE)',
                   parent || '_after', parent, highest);
  END LOOP;
END $$;

CREATE TABLE sluice.outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  message_ids text[] NOT NULL CHECK (cardinality(message_ids) > 0),
  bytes integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- No API relays the entry; a sweeper does as soon as it is due.
  for_sweeper boolean NOT NULL DEFAULT false
);
CREATE INDEX outbox_due ON sluice.outbox (due_at, id);

CREATE TABLE sluice.idempotency_keys (
  account_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint bytea NOT NULL CHECK (length(fingerprint) = 32),
  message_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  -- The messages of a batch in the order in which they were sent; null for a single message.
  message_ids text[],
  PRIMARY KEY (account_id, key)
);
CREATE INDEX idempotency_keys_by_age ON sluice.idempotency_keys USING brin (created_at);

-- Bytes and messages that an account stores, by UTC day of creation: a row goes with the day's messages. A few rows are
-- updated every second, and need space for new row versions on their page.
CREATE TABLE sluice.storage (
  account_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  bytes bigint NOT NULL,
  messages bigint NOT NULL,
  PRIMARY KEY (account_id, day)
) WITH (fillfactor = 70);
