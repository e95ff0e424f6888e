import { TRANSITIONS } from '#messages/index.js';
import {
  hasBeenDelivered,
  isWantedBy,
  OPEN,
  columnsOf,
  CONTENT_COLUMNS,
  DayStatement,
  endMessages,
  hasEndpoints,
  isHalted,
  startAttempts,
} from '#messages/adapters/postgres/index.js';

/** A delivered message may be replayed to an endpoint, which does not change its status. */
const DELIVERED = TRANSITIONS.deliver.to;

/**
 * Whether the endpoint of a delivery `d` counts: it is enabled, and wants messages of the type. As a condition EXISTS, it
 * would let the planner read all endpoints.
 */
export const counts = (type: string): string => `(${isWantedBy('d.endpoint_id', type)}) IS TRUE`;

/**
 * Marks deliveries that may start now as ready, including those whose lease has expired. Their ids are repeated beside the
 * join: a plan made while the table was empty would otherwise read the whole table.
 */
export const MAKE_READY = `
  WITH due AS (
    SELECT message_id, endpoint_id FROM sluice.endpoint_deliveries
    WHERE NOT ready AND due_at <= statement_timestamp() ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
  )
  UPDATE sluice.endpoint_deliveries d SET ready = true
  FROM due WHERE d.message_id = ANY (ARRAY(SELECT message_id FROM due)) AND d.message_id = due.message_id AND d.endpoint_id = due.endpoint_id`;

/**
 * The endpoints with ready deliveries, each found by one descent of the index. An endpoint with many costs no more than
 * one with few, and one whose deliveries are due later costs nothing. OFFSET 0: as a join, it would let the planner read all
 * endpoints.
 */
export const DUE_ENDPOINTS = `
  WITH RECURSIVE pending AS (
    (SELECT endpoint_id, account_id FROM sluice.endpoint_deliveries WHERE ready AND due_at IS NOT NULL
     ORDER BY endpoint_id, due_at LIMIT 1)
    UNION ALL
    SELECT following.* FROM pending CROSS JOIN LATERAL (
      SELECT endpoint_id, account_id FROM sluice.endpoint_deliveries
      WHERE ready AND due_at IS NOT NULL AND endpoint_id > pending.endpoint_id ORDER BY endpoint_id, due_at LIMIT 1
    ) following
  )
  SELECT endpoint_id AS "endpointId", account_id AS "accountId", due,
         coalesce(rate_limit_per_second, 0) AS "rateLimitPerSecond", "keyId"
  FROM pending LEFT JOIN LATERAL (
    SELECT rate_limit_per_second, secrets->0->'sealed'->>'keyId' AS "keyId"
    FROM sluice.endpoints e WHERE e.id = endpoint_id OFFSET 0
  ) endpoint ON true CROSS JOIN LATERAL (
    SELECT count(*)::int AS due FROM (
      SELECT FROM sluice.endpoint_deliveries d
      WHERE d.endpoint_id = pending.endpoint_id AND ready AND due_at IS NOT NULL LIMIT $1
    ) first
  ) counted
  WHERE NOT ${isHalted('account_id')}`;

export const NEXT_IN = `
  SELECT greatest(0, extract(epoch FROM due_at - clock_timestamp()) * 1000)::float8 AS ms
  FROM sluice.endpoint_deliveries WHERE NOT ready AND due_at < 'infinity' ORDER BY due_at LIMIT 1`;

/** The same, or 0 when a delivery is ready. */
export const PENDING_IN = `
  SELECT 0::float8 AS ms
  WHERE EXISTS (SELECT FROM sluice.endpoint_deliveries WHERE ready AND due_at IS NOT NULL)
  UNION ALL (${NEXT_IN}) LIMIT 1`;

/** The rest is left to the next statement: a planner that expects more would read the whole table to join them. */
const LEASED_AT_ONCE = 200;

/*
 * Rows of deliveries are locked before the rows of their messages, which are locked in one order; a statement that
 * waits for a message therefore holds no delivery that another statement waits for: SETTLE_DELIVERIES skips locked
 * rows.
 */
export const PICK_DELIVERIES = `
  SELECT d.* FROM unnest($1::text[], $2::int[]) AS wanted (endpoint_id, places) CROSS JOIN LATERAL (
      SELECT message_id AS "messageId", endpoint_id AS "endpointId" FROM sluice.endpoint_deliveries d
      -- Workers of the version before do not change \`ready\`.
      WHERE d.endpoint_id = wanted.endpoint_id AND ready AND due_at <= statement_timestamp()
      ORDER BY due_at LIMIT wanted.places FOR UPDATE SKIP LOCKED
  ) d
  LIMIT ${LEASED_AT_ONCE}`;

/*
 * After PICK_DELIVERIES and LOCK_MESSAGES, not together with them: PostgreSQL 18 (seen in 18.4) ends with all its sessions when a
 * statement waits for a row of a partitioned table, has to look at it again, and then looks for the partitions of further
 * rows.
 *
 * $1 ids of messages and $2 of endpoints, of each delivery; $3 token; $4 milliseconds.
 */
export const LEASE_DELIVERIES = new DayStatement(
  'lease',
  (isOfDay) => `
  WITH picked AS (
    SELECT d.* FROM unnest($1::text[], $2::text[]) AS t (message_id, endpoint_id)
    JOIN sluice.endpoint_deliveries d USING (message_id, endpoint_id) WHERE d.message_id = ANY ($1)
  ), held AS (
    SELECT id, ${CONTENT_COLUMNS}, created_at, traceparent, status, attempts FROM sluice.messages
    WHERE id = ANY ($1)${isOfDay('id')}
  ), leased AS (
    SELECT p.message_id, p.endpoint_id, p.account_id, p.failures, p.token, p.number, p.started_at,
           ${columnsOf('h', CONTENT_COLUMNS)}, h.created_at, h.traceparent,
           (h.attempts + row_number() OVER (PARTITION BY h.id ORDER BY p.endpoint_id))::int AS next_number
    FROM picked p JOIN held h ON h.id = p.message_id WHERE h.status IN (${OPEN}, '${DELIVERED}')
  ), started AS (${startAttempts('SELECT message_id, max(next_number) AS attempts FROM leased GROUP BY message_id', '$1', '$3', isOfDay)}
  ), lost AS (
    INSERT INTO sluice.attempts (message_id, number, account_id, started_at, outcome, target)
    SELECT message_id, number, account_id, started_at, 'lost', endpoint_id FROM leased WHERE token IS NOT NULL
    ON CONFLICT DO NOTHING
  ), taken AS (
    UPDATE sluice.endpoint_deliveries d
    SET token = $3, number = next_number, started_at = clock_timestamp(), ready = false, attempts = d.attempts + 1,
        last_number = coalesce(l.number, last_number),
        due_at = clock_timestamp() + $4 * interval '1 millisecond'
    FROM leased l
    WHERE d.message_id = ANY ($1) AND d.message_id = l.message_id AND d.endpoint_id = l.endpoint_id
  ), dropped AS (
    DELETE FROM sluice.endpoint_deliveries d USING picked p
    WHERE d.message_id = ANY ($1) AND d.message_id = p.message_id AND d.endpoint_id = p.endpoint_id
      AND p.message_id NOT IN (SELECT message_id FROM leased)
  )
  SELECT message_id AS "messageId", endpoint_id AS "endpointId", account_id AS "accountId", ${CONTENT_COLUMNS},
         created_at AS "createdAt", traceparent, failures,
         (SELECT xmin::text FROM sluice.endpoints e WHERE e.id = endpoint_id) AS "endpointVersion"
  FROM leased`,
);

/** Before SETTLE_DELIVERIES: of several that end deliveries of one message, the last one sees that it is the last. */
export const LOCK_MESSAGES = new DayStatement(
  'lock-messages',
  (isOfDay) => `SELECT FROM sluice.messages WHERE id = ANY ($1)${isOfDay('id')} ORDER BY id FOR UPDATE`,
);

/**
 * $1 to $8 the results. $9 the revision of the endpoint to which each request was sent, null without one: an endpoint that has
 * another one since is not changed. $10 the types of the messages. $11 for how long a failure counts as one of a series, in ms.
 */
export const SETTLE_DELIVERIES = `
  WITH results AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::float8[], $6::text[], $7::int[], $8::text[],
                         $9::int[], $10::text[], $11::float8[]) WITH ORDINALITY
      AS t (message_id, endpoint_id, token, outcome, retry_ms, error, response_status, response_body, revision, type,
            forgotten_ms, place)
  ), held AS (
    SELECT d.message_id, d.endpoint_id, d.account_id, d.number, d.started_at, d.attempts, t.outcome, t.retry_ms, t.error,
           t.response_status, t.response_body, t.revision, t.type
    FROM results t JOIN sluice.endpoint_deliveries d USING (message_id, endpoint_id, token)
    WHERE d.message_id = ANY ($1)
    FOR UPDATE OF d SKIP LOCKED
  ), delivered AS (
    DELETE FROM sluice.endpoint_deliveries d USING held h
    WHERE d.message_id = ANY ($1) AND d.message_id = h.message_id AND d.endpoint_id = h.endpoint_id
      AND outcome = 'delivered'
  ), others AS (
    UPDATE sluice.endpoint_deliveries d
    SET due_at = CASE outcome WHEN 'retried' THEN clock_timestamp() + retry_ms * interval '1 millisecond' END,
        failures = failures + 1, ready = false, last_number = d.number, token = NULL, number = NULL, started_at = NULL,
        abandoned = CASE WHEN outcome = 'failed' AND (h.revision IS NULL OR NOT ${counts('h.type')}) THEN error END
    FROM held h
    WHERE d.message_id = ANY ($1) AND d.message_id = h.message_id AND d.endpoint_id = h.endpoint_id
      AND outcome <> 'delivered'
  ), attempted AS (
    INSERT INTO sluice.attempts (message_id, number, account_id, started_at, ended_at, outcome, error, target, of_target,
                                 response_status, response_body)
    SELECT message_id, number, account_id, started_at, clock_timestamp(), outcome, error, endpoint_id, attempts,
           response_status, response_body
    FROM held
    ON CONFLICT DO NOTHING
  ), requested AS (
    SELECT endpoint_id, revision, bool_or(outcome = 'delivered') AS has_succeeded,
           (array_agg(outcome ORDER BY place DESC))[1] = 'delivered' AS succeeds,
           clock_timestamp() + max(forgotten_ms) * interval '1 millisecond' AS failing_until
    FROM results WHERE revision IS NOT NULL GROUP BY endpoint_id, revision
  ), changed AS MATERIALIZED (
    SELECT e.id, CASE WHEN succeeds THEN NULL WHEN has_succeeded OR is_forgotten THEN clock_timestamp()
                      ELSE coalesce(failing_since, clock_timestamp()) END AS failing_since,
           CASE WHEN NOT succeeds THEN greatest(e.failing_until, r.failing_until) END AS failing_until
    FROM requested r JOIN sluice.endpoints e ON e.id = r.endpoint_id AND e.revision = r.revision
    CROSS JOIN LATERAL (SELECT e.failing_until < clock_timestamp() AS is_forgotten) f
    WHERE CASE WHEN failing_since IS NULL THEN NOT succeeds
               ELSE has_succeeded OR (e.failing_until > r.failing_until - interval '1 minute') IS NOT TRUE END
    ORDER BY e.id FOR NO KEY UPDATE OF e
  )
  UPDATE sluice.endpoints e SET failing_since = c.failing_since, failing_until = c.failing_until
  FROM changed c WHERE e.id = c.id`;

/**
 * Those of some deliveries that are no longer to be made leave their lines. Last in a transaction, since others wait for
 * the lines until it commits.
 *
 * $1 ids of messages and $2 of endpoints, of each delivery.
 */
export const LEAVE_LINES = `
  SELECT available FROM (
    SELECT array_agg(t.endpoint_id) AS lines, array_agg(m.ordering_key) AS keys, array_agg(m.position) AS positions
    FROM unnest($1::text[], $2::text[]) AS t (message_id, endpoint_id) JOIN sluice.messages m ON m.id = t.message_id
    WHERE m.id = ANY ($1) AND m.position IS NOT NULL AND NOT EXISTS (
      SELECT FROM sluice.endpoint_deliveries d
      WHERE d.message_id = m.id AND d.endpoint_id = t.endpoint_id AND d.due_at IS NOT NULL)
  ) ended CROSS JOIN LATERAL sluice.leave_lines(lines, keys, positions) released`;

/**
 * Ends the messages that have no delivery left to make, as `messageOutcome` decides.
 */
export const END_MESSAGES = new DayStatement(
  'end-messages',
  (isOfDay) => `
  WITH locked AS MATERIALIZED (
    SELECT id, status, delivery, type FROM sluice.messages WHERE id = ANY ($1::text[])${isOfDay('id')}
  ), ended AS MATERIALIZED (
    SELECT id, type FROM locked l WHERE l.status IN (${OPEN}) AND ${hasEndpoints('l.delivery')} AND (
      SELECT bool_or(due_at IS NOT NULL) FROM sluice.endpoint_deliveries d WHERE d.message_id = l.id) IS NOT TRUE
  )${endMessages(
    `
    SELECT id, (
      SELECT concat_ws(': ', d.endpoint_id, coalesce(
        d.abandoned, (SELECT error FROM sluice.attempts a
                      WHERE a.message_id = ended.id AND a.target = d.endpoint_id AND outcome = 'failed'
                      ORDER BY number DESC LIMIT 1)))
      FROM sluice.endpoint_deliveries d
      WHERE d.message_id = ended.id
        AND (d.abandoned IS NULL AND ${counts('ended.type')} OR NOT ${hasBeenDelivered('a.message_id = ended.id')})
      ORDER BY d.abandoned IS NOT NULL, d.endpoint_id LIMIT 1
    ) AS reason FROM ended`,
    '$1::text[]',
    isOfDay,
  )}`,
);
