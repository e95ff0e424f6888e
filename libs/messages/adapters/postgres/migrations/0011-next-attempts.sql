-- When a message for a handler is due again after a failed attempt. A job that was lost, or moved to another queue, is
-- added again with what remains of its wait.
ALTER TABLE sluice.messages ADD COLUMN next_attempt_at timestamptz;
