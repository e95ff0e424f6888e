import { TRANSITIONS } from '../../../domain/message-status.js';
import { DayStatement } from '../day-statement.js';
import { leaveLines, NOTHING_RELEASED, RELEASED } from '../order/lines.sql.js';

// May be sent again after a lost response. Each claim counts an attempt, so equal counts show that this end is already
// stored, and one less that a crash of the database has lost the claim, which did not wait for the disk.
export const SETTLE = new DayStatement(
  'settle',
  (isOfDay) => `
  WITH settled AS (
    UPDATE sluice.messages m
    SET status = t.status, attempts = t.attempts, failures = t.failures, failure_reason = t.failure_reason,
        updated_at = clock_timestamp(), next_attempt_at = clock_timestamp() + t.wait_ms * interval '1 millisecond',
        claim = NULL, claim_expires_at = NULL, claim_alone = false
    FROM unnest($1::text[], $2::uuid[], $3::int[], $4::int[], $5::text[], $6::int[], $7::text[], $8::timestamptz[],
                $9::int[])
      AS t (id, token, retries, attempts, status, failures, failure_reason, started_at, wait_ms)
    WHERE m.id = t.id${isOfDay('m.id')}
      AND (m.claim = t.token
        OR m.claim IS NULL AND (m.retries, m.attempts, m.status) = (t.retries, t.attempts, t.status)
        OR m.claim IS NULL AND (m.retries, m.attempts, m.status) = (t.retries, t.attempts - 1, '${TRANSITIONS.startProcessing.from}'))
    RETURNING m.account_id, m.delivery, m.ordering_key, m.position, t.*
  ), ended AS (
    INSERT INTO sluice.attempts (message_id, number, account_id, started_at, ended_at, outcome, error)
    SELECT id, attempts, account_id, started_at, clock_timestamp(),
           CASE status WHEN '${TRANSITIONS.requeue.to}' THEN 'retried' ELSE status END, failure_reason
    FROM settled
    ON CONFLICT DO NOTHING
  )
  SELECT token, ${NOTHING_RELEASED} FROM settled
  UNION ALL
  SELECT NULL, ${RELEASED} FROM (${leaveLines(`(
    SELECT * FROM settled WHERE status <> '${TRANSITIONS.requeue.to}') settled`)}) released`,
);
