import { BATCH_BYTES } from '../../application/outbox.js';
import { TRANSITIONS } from '../../domain/message-status.js';
import { BYTES } from './message-row.js';

/** A compare-and-set: every transition changes one of the three columns of the condition. */
export const CHANGE_MESSAGE = `
  WITH moved AS (
    UPDATE sluice.messages
    SET status = $5, updated_at = clock_timestamp(), retries = $6, failures = $7, crashes = $8, lone_crashes = $9,
        failure_reason = $10
    WHERE id = $1 AND status = $2 AND attempts = $3 AND retries = $4
    RETURNING id, updated_at, ${BYTES} AS bytes
  ), entry AS (
    INSERT INTO sluice.outbox (message_ids, bytes)
    SELECT ARRAY[id], bytes FROM moved WHERE $11
    RETURNING id
  )
  SELECT updated_at, (SELECT id FROM entry) AS entry_id FROM moved`;

/**
 * The next failed messages of an account, by id. Their outbox entries, of about `BATCH_BYTES` each, are left to a sweeper,
 * because the messages are not in memory. The account is a range for the reason that lists have.
 */
export const RETRY_FAILED_MESSAGES = `
  WITH failed AS (
    SELECT id FROM sluice.messages
    WHERE account_id >= $1 AND account_id <= $1 AND status = '${TRANSITIONS.retry.from}' AND id >= $2 AND id < $3
    ORDER BY account_id, id LIMIT $4 FOR UPDATE
  ), moved AS (
    UPDATE sluice.messages m
    SET status = '${TRANSITIONS.retry.to}', updated_at = clock_timestamp(), retries = m.retries + 1, failures = 0,
        crashes = 0, lone_crashes = 0, failure_reason = NULL
    FROM failed WHERE m.id = failed.id
    RETURNING m.id, ${BYTES} AS bytes
  ), entries AS (
    INSERT INTO sluice.outbox (message_ids, bytes, for_sweeper)
    SELECT array_agg(id), sum(bytes), true
    FROM (SELECT id, bytes, sum(bytes) OVER (ORDER BY id) / ${BATCH_BYTES} AS entry FROM moved) m GROUP BY entry
  )
  SELECT count(*)::int AS count, max(id) AS last FROM moved`;
