import { TRANSITIONS } from '../../domain/message-status.js';

const { deliver, fail, requeue, startProcessing, takeOver } = TRANSITIONS;

/*
 * What begins is counted here as `Message.startProcessing` and `Message.takeOver` count it; a test holds both together.
 * While a message is processed, the time of its last change is when the attempt began: what is taken over is noted as
 * lost with it. A claim with the token that a message has already is the same claim, told again since its answer was
 * lost: it counts once. The rows are locked first, and in one order, so that this is the attempt that is taken over indeed.
 * They are found by id alone: a planner that knows of few open messages would otherwise look at all there are.
 */
export const CLAIM = `
  WITH wanted AS (
    SELECT * FROM unnest($1::text[], $2::int[], $3::uuid[], $4::int[]) AS t (id, retries, token, lease_ms)
  ), held AS (
    SELECT id, status, claim, updated_at, retries FROM sluice.messages
    WHERE id IN (SELECT id FROM wanted) ORDER BY id FOR UPDATE
  ), claimed AS (
    UPDATE sluice.messages m
    SET status = '${startProcessing.to}', claim = t.token, claim_alone = false,
        claim_expires_at = clock_timestamp() + t.lease_ms * interval '1 millisecond',
        attempts = m.attempts + (h.claim IS DISTINCT FROM t.token)::int,
        crashes = m.crashes + (m.status = '${takeOver.from}' AND h.claim <> t.token)::int,
        lone_crashes = m.lone_crashes + (m.status = '${takeOver.from}' AND h.claim <> t.token AND m.claim_alone)::int,
        updated_at = clock_timestamp()
    FROM wanted t JOIN held h USING (id, retries)
    WHERE m.id = h.id AND h.status IN ('${startProcessing.from}', '${takeOver.from}')
    RETURNING m.id, m.account_id, m.status, m.created_at, m.updated_at, m.attempts, m.failures, m.crashes,
              m.lone_crashes, m.retries, m.failure_reason, m.claim, m.claim_expires_at, m.claim_alone,
              m.traceparent, m.deliver_at, h.status AS held_status, h.claim AS held_claim, h.updated_at AS held_since
  ), lost AS (
    INSERT INTO sluice.attempts (message_id, number, account_id, started_at, outcome)
    SELECT id, attempts - 1, account_id, held_since, 'lost' FROM claimed
    WHERE held_status = '${takeOver.from}' AND held_claim <> claim
    ON CONFLICT DO NOTHING
  )
  SELECT * FROM claimed`;

// An end whose answer was lost is told again. Each claim counts an attempt, so the count tells that it was stored.
export const SETTLE = `
  WITH settled AS (
    UPDATE sluice.messages m
    SET status = t.status, failures = t.failures, failure_reason = t.failure_reason, updated_at = clock_timestamp(),
        claim = NULL, claim_expires_at = NULL, claim_alone = false
    FROM unnest($1::text[], $2::uuid[], $3::int[], $4::int[], $5::text[], $6::int[], $7::text[], $8::timestamptz[])
      AS t (id, token, retries, attempts, status, failures, failure_reason, started_at)
    WHERE m.id = t.id
      AND (m.claim = t.token
        OR m.claim IS NULL AND (m.retries, m.attempts, m.status) = (t.retries, t.attempts, t.status))
    RETURNING m.account_id, t.*
  ), ended AS (
    INSERT INTO sluice.attempts (message_id, number, account_id, started_at, ended_at, outcome, error)
    SELECT id, attempts, account_id, started_at, clock_timestamp(),
           CASE status WHEN '${requeue.to}' THEN 'retried' ELSE status END, failure_reason
    FROM settled
    ON CONFLICT DO NOTHING
  )
  SELECT token FROM settled`;

// Locked in one order, since several processes may hear of the same jobs at once.
export const FOLLOW = `
  WITH t AS (
    SELECT * FROM unnest($1::text[], $2::int[], $3::int[], $4::text[], $5::timestamptz[], $6::timestamptz[])
      AS t (id, retries, attempts, failed_reason, started_at, ended_at)
  ), free AS (
    SELECT m.id, m.status, m.attempts AS attempts_before, m.updated_at AS held_since
    FROM sluice.messages m JOIN t ON m.id = t.id AND m.retries = t.retries
    WHERE m.status = '${startProcessing.from}'
       OR m.status = '${takeOver.from}' AND m.claim_expires_at < clock_timestamp()
    ORDER BY m.id FOR UPDATE OF m
  ), followed AS (
    UPDATE sluice.messages m
    SET status = CASE WHEN t.failed_reason IS NULL THEN '${deliver.to}' ELSE '${fail.to}' END,
        attempts = m.attempts + t.attempts,
        failures = m.failures + t.attempts - (t.failed_reason IS NULL)::int,
        crashes = m.crashes + (m.status = '${takeOver.from}')::int,
        lone_crashes = m.lone_crashes + (m.status = '${takeOver.from}' AND m.claim_alone)::int,
        failure_reason = t.failed_reason, updated_at = clock_timestamp(),
        claim = NULL, claim_expires_at = NULL, claim_alone = false
    FROM t JOIN free USING (id)
    WHERE m.id = t.id
    RETURNING m.id, m.account_id, m.attempts, m.status, m.failure_reason, t.started_at, t.ended_at,
              free.status AS held_status, free.attempts_before, free.held_since
  ), noted AS (
    INSERT INTO sluice.attempts (message_id, number, account_id, started_at, ended_at, outcome, error)
    SELECT id, attempts, account_id, coalesce(started_at, clock_timestamp()), coalesce(ended_at, clock_timestamp()),
           status, failure_reason
    FROM followed
    UNION ALL
    SELECT id, attempts_before, account_id, held_since, NULL, 'lost', NULL
    FROM followed WHERE held_status = '${takeOver.from}'
    ON CONFLICT DO NOTHING
  )
  SELECT id FROM followed`;

/** One row at least for a message that is there. */
export const ATTEMPTS = `
  WITH message AS (
    SELECT * FROM sluice.messages WHERE id = $1 AND account_id = $2
  ), newest AS (
    SELECT number, started_at, outcome, error,
           CASE WHEN ended_at IS NOT NULL THEN
             round(extract(epoch FROM greatest(ended_at, started_at) - started_at) * 1000)::float8
           END AS duration_ms
    FROM sluice.attempts WHERE message_id = $1
    UNION ALL
    SELECT attempts, updated_at, 'running', NULL, NULL FROM message WHERE status = '${startProcessing.to}'
    ORDER BY number DESC LIMIT 1000
  )
  SELECT newest.* FROM message LEFT JOIN newest ON true ORDER BY number`;
