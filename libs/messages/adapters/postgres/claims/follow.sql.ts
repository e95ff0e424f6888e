import { TRANSITIONS } from '../../../domain/message-status.js';
import { hasJob } from '../delivery-mode.sql.js';
import { leaveLines, NOTHING_RELEASED, RELEASED } from '../order/lines.sql.js';

const { deliver, fail, startProcessing, takeOver } = TRANSITIONS;

// Locked in the same order everywhere: several processes may read the same events at once.
export const FOLLOW = `
  WITH t AS (
    SELECT * FROM unnest($1::text[], $2::int[], $3::int[], $4::text[], $5::timestamptz[], $6::timestamptz[])
      AS t (id, retries, attempts, failed_reason, started_at, ended_at)
  ), free AS (
    SELECT m.id, m.status, m.attempts AS attempts_before, m.updated_at AS held_since
    FROM sluice.messages m JOIN t ON m.id = t.id AND m.retries = t.retries
    WHERE ${hasJob('m.delivery')} AND (m.status = '${startProcessing.from}'
       OR m.status = '${takeOver.from}' AND m.claim_expires_at < clock_timestamp())
    ORDER BY m.id FOR UPDATE OF m
  ), followed AS (
    UPDATE sluice.messages m
    SET status = CASE WHEN t.failed_reason IS NULL THEN '${deliver.to}' ELSE '${fail.to}' END,
        attempts = m.attempts + t.attempts,
        failures = m.failures + t.attempts - (t.failed_reason IS NULL)::int,
        crashes = m.crashes + (m.status = '${takeOver.from}')::int,
        lone_crashes = m.lone_crashes + (m.status = '${takeOver.from}' AND m.claim_alone)::int,
        failure_reason = t.failed_reason, next_attempt_at = NULL, updated_at = clock_timestamp(),
        claim = NULL, claim_expires_at = NULL, claim_alone = false
    FROM t JOIN free USING (id)
    WHERE m.id = t.id
    RETURNING m.id, m.account_id, m.delivery, m.ordering_key, m.position, m.attempts, m.status, m.failure_reason, t.started_at, t.ended_at,
              free.status AS held_status, free.attempts_before, free.held_since
  ), noted AS (
    INSERT INTO sluice.attempts (message_id, number, account_id, started_at, ended_at, outcome, error, target)
    SELECT id, attempts, account_id, coalesce(started_at, clock_timestamp()), coalesce(ended_at, clock_timestamp()),
           status, failure_reason, 'worker'
    FROM followed
    UNION ALL
    SELECT id, attempts_before, account_id, held_since, NULL, 'lost', NULL, delivery
    FROM followed WHERE held_status = '${takeOver.from}'
    ON CONFLICT DO NOTHING
  )
  SELECT id, ${NOTHING_RELEASED} FROM followed
  UNION ALL
  SELECT NULL, ${RELEASED} FROM (${leaveLines('followed')}) released`;
