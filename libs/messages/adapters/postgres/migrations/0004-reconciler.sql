-- When a key was stored, by the clock of the database; created_at is the time of its message, by the clock of an API.
-- now() is the same for all rows, so that the table is not rewritten: present keys are kept for another day.
ALTER TABLE sluice.idempotency_keys ADD COLUMN stored_at timestamptz NOT NULL DEFAULT now();
DROP INDEX sluice.idempotency_keys_by_age;
-- Rows are inserted at the end of it. A BRIN index would be as cheap only until the space of deleted keys is reused:
-- then every block range has old and new ones.
CREATE INDEX idempotency_keys_by_age ON sluice.idempotency_keys (stored_at);

-- One row: the reconciler's last run, by any process, and its walk through the open messages.
CREATE TABLE sluice.reconciler (
  began_at timestamptz NOT NULL,
  -- The walk continues after this message.
  position text COLLATE "C" NOT NULL,
  -- Strays that the walk has found since it began, and that the one before found.
  strays integer NOT NULL,
  strays_before integer NOT NULL
);
INSERT INTO sluice.reconciler VALUES (now(), '', 0, 0);

-- BullMQ's check for stalled jobs would otherwise read all jobs of the queue, several times a minute.
CREATE INDEX sluice_stalled_jobs ON bullmq.job (queue) WHERE stalled_marked;
