ALTER TABLE sluice.messages
  DROP CONSTRAINT messages_status_check,
  ADD CONSTRAINT messages_status_check
    CHECK (status IN ('queued', 'processing', 'delivered', 'failed', 'cancelled', 'skipped'));
