-- The mode of delivery that was in force when the message was accepted.
ALTER TABLE sluice.messages ADD COLUMN delivery text NOT NULL DEFAULT 'handler'
  CHECK (delivery IN ('handler', 'webhooks', 'pull'));

-- When an open message may be leased: now or later, or while it is leased, when the lease ends. The constraint is not
-- checked for present rows, which all satisfy it: that would lock the table for as long as it takes to read it.
ALTER TABLE sluice.messages ADD COLUMN available_at timestamptz;
ALTER TABLE sluice.messages ADD CONSTRAINT messages_available
  CHECK ((available_at IS NOT NULL) = (delivery = 'pull' AND status IN ('queued', 'processing'))) NOT VALID;
CREATE INDEX messages_available ON sluice.messages (account_id, available_at, id) WHERE available_at IS NOT NULL;

-- Open messages by who delivers them: those of leases are in the index above. The search for stray messages reads only
-- those that should have a job.
CREATE INDEX messages_open_handler ON sluice.messages (id)
  WHERE status IN ('queued', 'processing') AND delivery = 'handler';
CREATE INDEX messages_open_webhooks ON sluice.messages (id)
  WHERE status IN ('queued', 'processing') AND delivery = 'webhooks';
DROP INDEX sluice.messages_open;

-- Who made the attempt: `handler`, `worker` for one of another program, `pull`, or the id of an endpoint; and what the
-- endpoint answered.
ALTER TABLE sluice.attempts
  ADD COLUMN target text NOT NULL DEFAULT 'handler',
  ADD COLUMN response_status integer,
  ADD COLUMN response_body text;
