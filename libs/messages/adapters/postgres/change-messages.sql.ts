import { BATCH_BYTES } from '../../application/job-dispatch.js';
import { INITIAL_STATUS, TRANSITIONS } from '../../domain/message-status.js';
import { BYTES, FRESH_ATTEMPTS } from './message-row.js';
import { redeliver, retriedAs } from './retry-to-endpoints.sql.js';

/** When a message may be leased after it has this status. */
const availableAs = (status: string): string =>
  `CASE WHEN delivery = 'pull' AND ${status} = '${INITIAL_STATUS}' THEN clock_timestamp() END`;

/** How many deliveries a retry has started: to the endpoints of messages for webhooks, else one for each message. */
const started = (retried: string): string =>
  `((SELECT count(*) FROM ${retried} WHERE delivery <> 'webhooks') + (SELECT count(*) FROM redelivered))::int AS deliveries`;

const RETRIED = retriedAs('$13::text[]', '$5', '$10');

/**
 * A compare-and-set: every transition changes one of the three columns of the condition.
 *
 * $1 id; before: $2 status, $3 attempts, $4 retries; after: $5 status, $6 retries, $7 failures, $8 crashes, $9 lone
 * crashes, $10 failure reason; $11 whether it gets a job, $12 whether it is a retry, $13 the endpoints of a retry.
 */
export const CHANGE_MESSAGE = `
  WITH moved AS (
    UPDATE sluice.messages m
    SET status = CASE WHEN $12 THEN ${RETRIED.status} ELSE $5 END,
        updated_at = clock_timestamp(), retries = $6, failures = $7, crashes = $8, lone_crashes = $9,
        failure_reason = CASE WHEN $12 THEN ${RETRIED.reason} ELSE $10 END,
        available_at = ${availableAs('$5')}, next_attempt_at = NULL
    WHERE id = $1 AND status = $2 AND attempts = $3 AND retries = $4
    RETURNING id, account_id, delivery, status, failure_reason, updated_at, ${BYTES} AS bytes
  ), entry AS (
    INSERT INTO sluice.outbox (message_ids, bytes)
    SELECT ARRAY[id], bytes FROM moved WHERE $11
    RETURNING id
  ), retried AS (
    SELECT * FROM moved WHERE $12
  ), ${redeliver('retried', '$13::text[]')}
  SELECT status, failure_reason, updated_at, (SELECT id FROM entry) AS entry_id,
         ${started('retried')}
  FROM moved`;

const ALL_RETRIED = retriedAs('$5::text[]', `'${TRANSITIONS.retry.to}'`, 'NULL');

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
    SET status = ${ALL_RETRIED.status}, failure_reason = ${ALL_RETRIED.reason},
        available_at = ${availableAs(`'${TRANSITIONS.retry.to}'`)}, ${FRESH_ATTEMPTS}
    FROM failed WHERE m.id = failed.id
    RETURNING m.id, m.account_id, m.delivery, m.failure_reason, ${BYTES} AS bytes
  ), entries AS (
    INSERT INTO sluice.outbox (message_ids, bytes, for_sweeper)
    SELECT array_agg(id), sum(bytes), true
    FROM (SELECT id, bytes, sum(bytes) OVER (ORDER BY id) / ${BATCH_BYTES} AS entry
          FROM moved WHERE delivery = 'handler') m
    GROUP BY entry
  ), ${redeliver('moved', '$5::text[]')}
  SELECT count(*)::int AS count, (count(*) FILTER (WHERE delivery = 'pull'))::int AS pulled, max(id) AS last,
         ${started('moved')}
  FROM moved`;
