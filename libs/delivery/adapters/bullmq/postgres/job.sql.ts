/*
 * Only the files of this folder, and left-jobs.sql.ts, know BullMQ's tables. They are its internals: the version is
 * pinned, and test/contracts/bullmq-internals.spec.ts fails when they change.
 */

/** The time in milliseconds since 1970, of the database's clock. */
export const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/**
 * The attempts that other programs made with a job `j` of a message `m`: attempts that ended, and attempts whose worker
 * was lost. The message itself counts the lost attempts of Sluice's workers.
 */
export const ATTEMPTS = `j.attempts_made + greatest(0, j.stalled_count - m.crashes - (m.status = 'processing')::int)`;

/** When a job `j` was last started, and when it ended. */
export const RUN = `to_timestamp(j.processed_at_ms / 1000.0) AS processed_at,
                to_timestamp(j.finished_at_ms / 1000.0) AS finished_at`;
