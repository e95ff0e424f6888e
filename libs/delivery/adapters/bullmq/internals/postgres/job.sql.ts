/*
 * Only the files of this folder know BullMQ's tables and functions. They are its internals: the version is pinned, and
 * test/contracts/bullmq-internals.spec.ts says what an upgrade has to compare.
 */

/** The time in milliseconds since 1970, of the database's clock. */
export const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** What a job `j` says of how it was run: how often, by whom and when. */
export const RUNS = `j.attempts_made AS attempts, j.stalled_count AS stalled, j.processed_by,
                to_timestamp(j.processed_at_ms / 1000.0) AS processed_at,
                to_timestamp(j.finished_at_ms / 1000.0) AS finished_at`;
