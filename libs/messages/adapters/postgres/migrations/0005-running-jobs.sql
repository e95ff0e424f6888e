-- Finds a running job from the newest. BullMQ looks for one whenever a job ends, and its own index begins with the
-- oldest: while a snapshot is held, it reads all jobs that have ended since.
CREATE INDEX sluice_running_jobs ON bullmq.job (queue, locked_until_ms DESC) WHERE state = 'active';
