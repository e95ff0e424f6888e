import type { DeliveryMode } from '#kernel/delivery-mode.js';
import { MAX_PAGE_BYTES } from '../../../application/messages.js';
import { LEASE_EXPIRED } from '../../../domain/message.js';
import { TRANSITIONS } from '../../../domain/message-status.js';
import { DayStatement } from '../day-statement.js';
import { isLeased } from '../delivery-mode.sql.js';
import { contentBytes } from '../message-size.sql.js';
import { isHalted } from '../account-state.sql.js';
import { COLUMNS, columnsOf, isFound } from '../message-row.js';
import { leaveLines, NOTHING_RELEASED, RELEASED } from '../order/lines.sql.js';

const { startProcessing, deliver, requeue, fail } = TRANSITIONS;

/** The target of attempts that consumers make. */
const TARGET = `'${'pull' satisfies DeliveryMode}'`;

/** Attempts that a message `h` has used up once its lease has expired: `Message.attemptsUsed` and that one. */
const USED = 'h.failures + h.crashes + 1';

/** As `Message.expire` changes it after its last attempt, and after another one: then it stays available. */
const EXPIRED = 'crashes = m.crashes + 1, updated_at = clock_timestamp(), claim = NULL, claim_expires_at = NULL';
const FAIL = `
    SET status = '${fail.to}', failure_reason = '${LEASE_EXPIRED}', available_at = NULL, ${EXPIRED}`;
const REQUEUE = `
    SET status = '${requeue.to}', ${EXPIRED}`;

const LEAVING = 'RETURNING m.account_id, m.delivery, m.ordering_key, m.position';

/** How many of the keys of these messages have another message that may be leased now or later. */
const released = (ended: string) => `(SELECT count(*)::int FROM (${leaveLines(ended)}) released)`;

/**
 * A lease is a claim whose end is `available_at`: an expired one is available like any other message, and nothing has to
 * find it. Rows that another lease has just locked are skipped, so that none waits.
 *
 * $1 account, $2 messages at most, $3 milliseconds, $4 attempts that a message may have.
 */
export const LEASE = `
  WITH available AS MATERIALIZED (
    SELECT id, available_at, status, attempts, failures, crashes, updated_at, ${contentBytes()} AS bytes
    FROM sluice.messages
    WHERE account_id = $1 AND available_at <= statement_timestamp()
      AND NOT ${isHalted('$1')}
    ORDER BY account_id, available_at, id LIMIT $2 FOR UPDATE SKIP LOCKED
  ), h AS MATERIALIZED (
    SELECT * FROM (
      SELECT *, sum(bytes) OVER oldest AS total, row_number() OVER oldest AS place
      FROM available WINDOW oldest AS (ORDER BY available_at, id)
    ) counted WHERE total <= ${MAX_PAGE_BYTES} OR place = 1
  ), leased AS (
    UPDATE sluice.messages m
    SET status = '${startProcessing.to}', claim = gen_random_uuid(), claim_alone = false,
        claim_expires_at = clock_timestamp() + $3 * interval '1 millisecond',
        available_at = clock_timestamp() + $3 * interval '1 millisecond',
        attempts = m.attempts + 1, crashes = m.crashes + (h.status = '${startProcessing.to}')::int,
        updated_at = clock_timestamp()
    FROM h WHERE ${isFound('h')} AND (h.status = '${startProcessing.from}' OR ${USED} < $4)
    RETURNING ${columnsOf('m')}, h.place
  ), failed AS (
    UPDATE sluice.messages m ${FAIL}
    FROM h WHERE ${isFound('h')} AND h.status = '${startProcessing.to}' AND ${USED} >= $4
    ${LEAVING}
  ), lost AS (
    INSERT INTO sluice.attempts (message_id, number, account_id, started_at, outcome, target)
    SELECT id, attempts, $1, updated_at, 'lost', ${TARGET} FROM h WHERE status = '${startProcessing.to}'
    ON CONFLICT DO NOTHING
  )
  SELECT leased.*, total.*
  FROM (
    SELECT (SELECT count(*) FROM available)::int AS available, count(*)::int AS considered,
           (count(*) FILTER (WHERE status = '${startProcessing.to}'))::int AS expired,
           ${released('failed')} AS released
    FROM h
  ) total LEFT JOIN leased ON true ORDER BY place`;

export const IS_HALTED = `SELECT ${isHalted('$1')} AS "isHalted"`;

/** In milliseconds: that an account is resumed is announced, which may be missed. */
const RESUMED_IN = 1_000;

export const NEXT_IN = `
  SELECT greatest(CASE WHEN ${isHalted('$1')} THEN ${RESUMED_IN} ELSE 0 END,
                  extract(epoch FROM available_at - clock_timestamp()) * 1000)::float8 AS ms
  FROM sluice.messages WHERE account_id = $1 AND available_at < 'infinity'
  ORDER BY account_id, available_at, id LIMIT 1`;

/** $1 to $4: ids, accounts, tokens, attempts. */
const ENDS = 'unnest($1::text[], $2::text[], $3::uuid[], $4::int[]) AS t (id, account_id, token, attempt)';

// Rows are locked first, and always in the same order: a batch may be sent to several processes at once.
export const ACKNOWLEDGE = new DayStatement(
  'acknowledge',
  (isOfDay) => `
  WITH ends AS (
    SELECT * FROM ${ENDS}
  ), held AS MATERIALIZED (
    SELECT m.id, m.account_id, m.claim, m.attempts, m.updated_at
    FROM (SELECT DISTINCT id, account_id FROM ends) t JOIN sluice.messages m USING (id, account_id)
    WHERE m.claim_expires_at > clock_timestamp() AND ${isLeased('m.delivery')}${isOfDay('m.id')}
    ORDER BY m.id FOR UPDATE OF m
  ), ended AS MATERIALIZED (
    SELECT DISTINCT h.* FROM held h
    JOIN ends t ON t.id = h.id AND t.account_id = h.account_id AND t.token = h.claim AND t.attempt = h.attempts
  ), delivered AS (
    UPDATE sluice.messages m
    SET status = '${deliver.to}', failure_reason = NULL, updated_at = clock_timestamp(), claim = NULL,
        claim_expires_at = NULL, available_at = NULL
    FROM ended e WHERE m.id = e.id${isOfDay('m.id')}
    ${LEAVING}
  ), noted AS (
    INSERT INTO sluice.attempts (message_id, number, account_id, started_at, ended_at, outcome, target, token)
    SELECT id, attempts, account_id, updated_at, clock_timestamp(), '${deliver.to}', ${TARGET}, claim FROM ended
    ON CONFLICT DO NOTHING
  )
  SELECT id, account_id, claim AS token, attempts AS attempt, ${NOTHING_RELEASED} FROM ended
  UNION ALL
  SELECT NULL, NULL, NULL, NULL, ${RELEASED} FROM (${leaveLines('delivered')}) released`,
);

/**
 * Those whose message is delivered by this lease. A statement of its own: one that has waited for the same end elsewhere
 * does not see its attempt. Each lease has a number of its own.
 */
export const WAS_ACKNOWLEDGED = `
  SELECT t.* FROM ${ENDS}
  WHERE EXISTS (
    SELECT FROM sluice.attempts a WHERE a.message_id = t.id AND a.number = t.attempt AND a.account_id = t.account_id
      AND a.outcome = '${deliver.to}' AND a.token = t.token
  )`;

/** The message `m` is under the lease $1 to $4: id, account, token, attempt. */
const IS_LEASED = `
  m.id = $1 AND m.account_id = $2 AND m.claim = $3 AND m.attempts = $4 AND ${isLeased('m.delivery')}
  AND m.claim_expires_at > clock_timestamp()`;

export const FIND_LEASED = `SELECT ${COLUMNS} FROM sluice.messages m WHERE ${IS_LEASED}`;

export const REJECT = `
  WITH ended AS (
    UPDATE sluice.messages m
    SET status = $5, failures = $6, failure_reason = $7, updated_at = clock_timestamp(), claim = NULL,
        claim_expires_at = NULL,
        available_at = CASE $5 WHEN '${requeue.to}' THEN clock_timestamp() + $8 * interval '1 millisecond' END
    WHERE ${IS_LEASED}
    RETURNING m.id, m.account_id, m.delivery, m.ordering_key, m.position, m.attempts, m.status
  ), noted AS (
    INSERT INTO sluice.attempts (message_id, number, account_id, started_at, ended_at, outcome, error, target, token)
    SELECT id, attempts, account_id, $9, clock_timestamp(), CASE $5 WHEN '${requeue.to}' THEN 'retried' ELSE $5 END, $7, ${TARGET}, $3
    FROM ended
    ON CONFLICT DO NOTHING
  )
  SELECT id, ${NOTHING_RELEASED} FROM ended
  UNION ALL
  SELECT NULL, ${RELEASED} FROM (${leaveLines(`(
    SELECT * FROM ended WHERE status <> '${requeue.to}') ended`)}) released`;

export const WAS_REJECTED = `
  SELECT FROM sluice.attempts
  WHERE message_id = $1 AND account_id = $2 AND number = $3 AND token = $4 AND outcome IN ('retried', 'failed')`;

export const EXTEND = `
  WITH held AS (
    SELECT id, claim_expires_at FROM sluice.messages m WHERE ${IS_LEASED} FOR UPDATE
  )
  UPDATE sluice.messages m
  SET claim_expires_at = clock_timestamp() + $5 * interval '1 millisecond',
      available_at = clock_timestamp() + $5 * interval '1 millisecond'
  FROM held WHERE m.id = held.id
  RETURNING m.claim_expires_at AS "expiresAt", m.claim_expires_at < held.claim_expires_at AS "isSooner"`;

/** Expired leases of each account. The accounts are found one by one, each by an index. */
export const END_EXPIRED = `
  WITH RECURSIVE pulling (account_id) AS (
    (SELECT account_id FROM sluice.messages WHERE available_at IS NOT NULL ORDER BY account_id LIMIT 1)
    UNION ALL
    SELECT (SELECT m.account_id FROM sluice.messages m
            WHERE m.available_at IS NOT NULL AND m.account_id > p.account_id ORDER BY m.account_id LIMIT 1)
    FROM pulling p WHERE p.account_id IS NOT NULL
  ), h AS MATERIALIZED (
    SELECT expired.* FROM pulling p, LATERAL (
      SELECT id, account_id, attempts, updated_at, ${USED} >= $1 AS is_last FROM sluice.messages h
      WHERE account_id = p.account_id AND status = '${startProcessing.to}' AND ${isLeased('delivery')}
        AND available_at <= statement_timestamp()
      LIMIT $2 FOR UPDATE SKIP LOCKED
    ) expired
  ), failed AS (
    UPDATE sluice.messages m ${FAIL}
    FROM h WHERE ${isFound('h')} AND h.is_last
    ${LEAVING}
  ), requeued AS (
    UPDATE sluice.messages m ${REQUEUE}
    FROM h WHERE ${isFound('h')} AND NOT h.is_last
  ), lost AS (
    INSERT INTO sluice.attempts (message_id, number, account_id, started_at, outcome, target)
    SELECT id, attempts, account_id, updated_at, 'lost', ${TARGET} FROM h
    ON CONFLICT DO NOTHING
  )
  SELECT count(*)::int AS count, ARRAY(SELECT available FROM (${leaveLines('failed')}) released) AS available FROM h`;
