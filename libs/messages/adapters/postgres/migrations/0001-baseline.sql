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
  -- The mode of delivery that was in force when the message was accepted.
  delivery text NOT NULL DEFAULT 'handler' CHECK (delivery IN ('handler', 'webhooks', 'pull')),
  -- When an open message may be leased: now or later, or while it is leased, when the lease ends.
  available_at timestamptz,
  -- When a message for a handler is due again after a failed attempt. A job that was lost, or moved to another queue, is
  -- added again with what remains of its wait.
  next_attempt_at timestamptz,
  CHECK ((status = 'processing') = (claim IS NOT NULL)),
  CHECK ((claim IS NULL) = (claim_expires_at IS NULL)),
  CONSTRAINT messages_available
    CHECK ((available_at IS NOT NULL) = (delivery = 'pull' AND status IN ('queued', 'processing')))
) PARTITION BY RANGE (id);
-- Each list reads its page from this index, whatever its filter: see read-messages.sql.ts. Ids sort by time.
CREATE INDEX messages_by_status ON sluice.messages (account_id, status, id);
CREATE INDEX messages_available ON sluice.messages (account_id, available_at, id) WHERE available_at IS NOT NULL;
-- Open messages by who delivers them: those of leases are in the index above. The search for stray messages reads only
-- those that should have a job.
CREATE INDEX messages_open_handler ON sluice.messages (id)
  WHERE status IN ('queued', 'processing') AND delivery = 'handler';
CREATE INDEX messages_open_webhooks ON sluice.messages (id)
  WHERE status IN ('queued', 'processing') AND delivery = 'webhooks';
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
  -- Who made the attempt: `handler`, `worker` for one of another program, `pull`, or the id of an endpoint; and what the
  -- endpoint answered.
  target text NOT NULL DEFAULT 'handler',
  response_status integer,
  response_body text,
  -- The token of the lease of an attempt that a consumer has ended: only with it can the end be repeated.
  token uuid,
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

CREATE TABLE sluice.idempotency_keys (
  account_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint bytea NOT NULL CHECK (length(fingerprint) = 32),
  message_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  -- The messages of a batch in the order in which they were sent; null for a single message.
  message_ids text[],
  -- When the key was stored, by the clock of the database; created_at is the time of its message, by the clock of an API.
  stored_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account_id, key)
);
-- Rows are inserted at the end of it. A BRIN index would be as cheap only until the space of deleted keys is reused:
-- then every block range has old and new ones.
CREATE INDEX idempotency_keys_by_age ON sluice.idempotency_keys (stored_at);

-- Bytes and messages that an account stores, by UTC day of creation: a row goes with the day's messages. A few rows are
-- updated every second, and need space for new row versions on their page.
CREATE TABLE sluice.storage (
  account_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  bytes bigint NOT NULL,
  messages bigint NOT NULL,
  PRIMARY KEY (account_id, day)
) WITH (fillfactor = 70);
