CREATE TABLE sluice.outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  message_ids text[] NOT NULL CHECK (cardinality(message_ids) > 0),
  bytes integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- No API relays the entry; a sweeper does as soon as it is due.
  for_sweeper boolean NOT NULL DEFAULT false,
  -- The account for the end of whose suspension the entry waits, with `due_at` infinite until then.
  suspended_account text COLLATE "C"
);
CREATE INDEX outbox_due ON sluice.outbox (due_at, id);
CREATE INDEX outbox_suspended ON sluice.outbox (suspended_account) WHERE suspended_account IS NOT NULL;

-- BullMQ's check for stalled jobs would otherwise read all jobs of the queue, several times a minute.
CREATE INDEX sluice_stalled_jobs ON bullmq.job (queue) WHERE stalled_marked;
-- Finds a running job from the newest. BullMQ looks for one whenever a job ends, and its own index begins with the
-- oldest: while a snapshot is held, it reads all jobs that have ended since.
CREATE INDEX sluice_running_jobs ON bullmq.job (queue, locked_until_ms DESC) WHERE state = 'active';
