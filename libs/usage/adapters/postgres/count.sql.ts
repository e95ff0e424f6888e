import { contentBytes, firstWords } from '#messages/adapters/postgres/index.js';
import { LONGEST, PART_OF_AGE, PER_UNDELIVERED, SHORTEST } from '../../domain/recount.js';
import { addUsage, ENDS, LOCK_PROGRESS, STATUSES, UNDELIVERED } from './add-usage.sql.js';

/** Messages that a statement counts, and hours that it counts again or removes. */
export const MESSAGES_AT_ONCE = 5_000;
export const HOURS_AT_ONCE = 100;
export const ROWS_AT_ONCE = 5_000;

/** $1: the last id to be counted, $2: milliseconds within which no process has announced anything. */
export const ANNOUNCE = `
  UPDATE sluice.usage_progress SET closing = greatest(closing, $1), began_at = clock_timestamp()
  WHERE began_at NOT BETWEEN clock_timestamp() - $2::integer * interval '1 millisecond' AND clock_timestamp()
  RETURNING closing`;

/**
 * Transactions that may have stored messages without having seen the announcement. The trigger looks at it after its
 * transaction has taken this lock, so those that take it later see it. Transaction ids could not tell them apart: a transaction
 * gets one when it first writes.
 */
const WRITERS = `
  SELECT DISTINCT virtualtransaction AS writer FROM pg_locks
  WHERE locktype = 'relation' AND relation = 'sluice.messages'::regclass AND mode = 'RowExclusiveLock' AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
export const FIND_WRITERS = WRITERS;
/** $1: some of them. */
export const FIND_WRITERS_AGAIN = `${WRITERS} AND virtualtransaction = ANY ($1::text[])`;

/** $1: the last message counted, $2: the last one to be counted. What is late and in between is counted with the rest. */
export const COUNT = `
  WITH progress AS MATERIALIZED (
    SELECT FROM sluice.usage_progress WHERE counted = $1 FOR UPDATE
  ), found AS MATERIALIZED (
    SELECT id, account_id, type, created_at, status, ${contentBytes()} AS content_bytes FROM sluice.messages
    WHERE id > $1 AND id <= $2 AND EXISTS (SELECT FROM progress) ORDER BY id LIMIT ${MESSAGES_AT_ONCE}
  ), reached AS MATERIALIZED (
    SELECT CASE WHEN count(*) = ${MESSAGES_AT_ONCE} THEN max(id) ELSE $2 END AS id FROM found
  ), no_longer_late AS (
    DELETE FROM sluice.usage_late
    WHERE message_id > $1 AND message_id <= (SELECT id FROM reached) AND EXISTS (SELECT FROM progress)
  ), added AS (${addUsage('found')}
  )
  UPDATE sluice.usage_progress SET counted = (SELECT id FROM reached) WHERE counted = $1 RETURNING counted`;

/** Of a late message that was removed meanwhile, only the size is unknown. */
export const COUNT_LATE = `
  WITH progress AS MATERIALIZED (${LOCK_PROGRESS}), late AS (
    DELETE FROM sluice.usage_late WHERE message_id IN (
      SELECT message_id FROM sluice.usage_late WHERE message_id <= (SELECT counted FROM progress)
      ORDER BY message_id LIMIT ${MESSAGES_AT_ONCE}
    )
    RETURNING message_id, account_id, created_at
  ), found AS MATERIALIZED (
    SELECT late.account_id, m.type, late.created_at, m.status, coalesce(${contentBytes('m.')}, 0) AS content_bytes
    FROM late LEFT JOIN sluice.messages m ON m.id = late.message_id
  ), added AS (${addUsage('found')}
  )
  SELECT count(*)::integer AS count FROM found`;

/**
 * Messages of an account with a status, from `low` to another id, as a range of the index by status. A planner may prefer to
 * read all messages between two ids when these stand by themselves.
 */
const inIndex = (status: string, high: string): string => `
  (m.account_id, m.status, m.id) >= (hour.account_id, ${status}, low)
  AND (m.account_id, m.status, m.id) <= (hour.account_id, ${status}, ${high})`;

/** Those that Sluice itself has sent, which are not counted, by the index of types. */
const sentBySluice = (status: string, high: string): string => `
  m.account_id = hour.account_id AND m.status = ${status} AND ${firstWords('m.type', 1)} = 'sluice.'
  AND substr(m.id, 5) >= substr(low, 5) AND substr(m.id, 5) <= substr(${high}, 5)`;

export const FIND_DUE = `
  SELECT account_id AS "accountId", start FROM sluice.usage WHERE recount_at <= now()
  ORDER BY recount_at LIMIT ${HOURS_AT_ONCE}`;

/**
 * $1 and $2: hours of accounts, $3 and $4: their lowest ids and those of the next hour. It reads an index, and of that only
 * the messages that are not delivered: the others are the rest. Without one of these, the messages of the hour were removed.
 */
export const RECOUNT = `
  WITH progress AS MATERIALIZED (${LOCK_PROGRESS}), seen AS MATERIALIZED (
    SELECT hour.account_id, hour.start, rest.*,
           EXISTS (SELECT FROM sluice.messages m WHERE ${inIndex(`'delivered'`, 'high')}) AS has_delivered
    FROM unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[]) AS hour (account_id, start, low, high)
    CROSS JOIN progress CROSS JOIN LATERAL (
      SELECT sum(number)::bigint AS undelivered,
             coalesce(sum(number) FILTER (WHERE status = 'failed'), 0)::bigint AS failed,
             coalesce(sum(number) FILTER (WHERE status = 'cancelled'), 0)::bigint AS cancelled,
             coalesce(sum(number) FILTER (WHERE status IN (${ENDS})), 0)::bigint AS ended
      FROM unnest(ARRAY[${UNDELIVERED}]) AS other (status) CROSS JOIN LATERAL (
        SELECT (SELECT count(*) FROM sluice.messages m
                WHERE ${inIndex('other.status', 'least(high, progress.counted)')})
             - (SELECT count(*) FROM sluice.messages m
                WHERE ${sentBySluice('other.status', 'least(high, progress.counted)')}) AS number
      ) counted_again
    ) rest
  ), result AS (
    SELECT u.account_id, u.day, u.start, undelivered, seen.failed, seen.cancelled, ended,
           greatest(accepted - undelivered, 0) AS delivered, undelivered >= accepted OR has_delivered AS is_stored
    FROM seen JOIN sluice.usage u
      ON u.account_id = seen.account_id AND u.day = (seen.start AT TIME ZONE 'UTC')::date AND u.start = seen.start
  )
  UPDATE sluice.usage u
  SET delivered = CASE WHEN is_stored THEN r.delivered ELSE u.delivered END,
      failed = CASE WHEN is_stored THEN r.failed ELSE u.failed END,
      cancelled = CASE WHEN is_stored THEN r.cancelled ELSE u.cancelled END,
      recount_at = CASE WHEN is_stored AND undelivered > ended THEN now() + least(interval '${LONGEST}', greatest(
        interval '${SHORTEST}', (now() - u.start) / ${PART_OF_AGE}, undelivered * interval '${PER_UNDELIVERED}'
      )) END
  FROM result r WHERE u.account_id = r.account_id AND u.day = r.day AND u.start = r.start`;

/** $1 and $2: the first day, and the one after the last. */
export const MAKE_DUE = `
  UPDATE sluice.usage SET recount_at = now() WHERE (account_id, day, start) IN (
    SELECT account_id, day, start FROM sluice.usage
    WHERE day >= ($1::timestamptz AT TIME ZONE 'UTC')::date AND day < ($2::timestamptz AT TIME ZONE 'UTC')::date
      AND recount_at > now() LIMIT ${ROWS_AT_ONCE}
  ) RETURNING 1`;

export const MAKE_DUE_OF = `
  UPDATE sluice.usage SET recount_at = now() WHERE account_id = $1 AND recount_at > now()`;

export const CLOSE = `
  UPDATE sluice.usage SET recount_at = NULL WHERE account_id = $1 AND recount_at IS NOT NULL`;

export const HAS_WORK = `
  SELECT EXISTS (
    SELECT FROM sluice.usage_progress CROSS JOIN LATERAL (
      SELECT FROM sluice.messages m WHERE m.id > counted ORDER BY m.id LIMIT 1
    ) uncounted
  ) OR EXISTS (SELECT FROM sluice.usage_late)
    OR EXISTS (SELECT FROM sluice.usage WHERE recount_at <= now()) AS "hasWork"`;

/** By the index by status. */
export const HAS_UNCOUNTED = `
  SELECT EXISTS (
    SELECT FROM sluice.usage_progress CROSS JOIN unnest(ARRAY[${STATUSES}]) AS one (status) CROSS JOIN LATERAL (
      SELECT FROM sluice.messages m
      WHERE m.account_id >= $1 AND m.account_id <= $1 AND m.status = one.status AND m.id > counted
      ORDER BY m.account_id, m.id LIMIT 1
    ) uncounted
  ) OR EXISTS (SELECT FROM sluice.usage_late WHERE account_id = $1) AS "hasUncounted"`;

export const HAS_COUNTED = `
  SELECT counted >= $1 AND NOT EXISTS (SELECT FROM sluice.usage_late WHERE message_id < $1) AS "hasCounted"
  FROM sluice.usage_progress`;

/** $1: the first day that is kept. */
export const REMOVE = `
  DELETE FROM sluice.usage WHERE (account_id, day, start) IN (
    SELECT account_id, day, start FROM sluice.usage WHERE day < ($1::timestamptz AT TIME ZONE 'UTC')::date
    ORDER BY day LIMIT ${ROWS_AT_ONCE}
  ) RETURNING 1`;
