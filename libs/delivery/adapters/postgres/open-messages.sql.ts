import { BYTES, hasEndpoints, hasJob, insertEntriesToSweep, OPEN } from '#messages/adapters/postgres/index.js';
import { REFUSED_DELAY_MS } from '../../application/outbox.js';

/** `Message.jobId` of a message `m`. */
export const JOB_ID = `CASE m.retries WHEN 0 THEN m.id ELSE m.id || '.' || m.retries END`;

const IS_OPEN = `m.status IN (${OPEN})`;

/** The message `m` is open and should have a job. */
export const SHOULD_HAVE_JOB = `${hasJob('m.delivery')} AND ${IS_OPEN}`;

/** How many messages for endpoints are open without a delivery that is left to make. */
export const COUNT_UNDELIVERED = `
  SELECT count(*)::int AS count FROM sluice.messages m
  WHERE ${hasEndpoints('m.delivery')} AND ${IS_OPEN}
    AND NOT EXISTS (SELECT FROM sluice.endpoint_deliveries d WHERE d.message_id = m.id AND d.due_at IS NOT NULL)`;

/** The message is open, and none of our workers holds an unexpired claim. */
export const UNCLAIMED = `${SHOULD_HAVE_JOB}
    AND (m.claim_expires_at IS NULL OR m.claim_expires_at < clock_timestamp())`;

/** More outbox entries than these are not searched. */
export const MAX_ENTRIES = 10_000;

/** The outbox entries that are due within `REFUSED_DELAY_MS`, as all postponed ones are: one more than `MAX_ENTRIES`. */
export const DUE = `
    SELECT message_ids FROM sluice.outbox WHERE due_at < statement_timestamp() + interval '${REFUSED_DELAY_MS + 1_000} milliseconds'
    ORDER BY due_at LIMIT ${MAX_ENTRIES + 1}`;

/** The message `m` is of an account that is suspended or paused, whose messages wait in the outbox. */
export const IS_HALTED = `(SELECT true FROM sluice.outbox o WHERE o.suspended_account = m.account_id LIMIT 1)`;

/** Inserts outbox entries for the messages of the array that this names. */
export const insertEntriesFor = (ids: string): string =>
  insertEntriesToSweep(`(SELECT id, account_id, ${BYTES} AS bytes FROM sluice.messages WHERE id = ANY (${ids})) m`);
