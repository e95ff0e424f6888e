import { MAX_STREAMS, PLACE_LIFETIME_MS } from '../../application/event-streams.js';
import { contentBytes, isDeleted, shownColumns } from '#messages/adapters/postgres/index.js';

/** Of a page: events, and bytes of text unless it is one event. */
const MAX_EVENTS = 100;
const MAX_BYTES = 262_144;

const PLACE_LIFETIME = `interval '${PLACE_LIFETIME_MS} milliseconds'`;

/** How long events are kept: as in the trigger that records them. */
const LIFETIME = `interval '1 hour'`;

/** All transactions before this one have ended: their events are visible, and no more are added. */
const END = 'pg_snapshot_xmin(pg_current_snapshot())';

/**
 * Transaction ids are specific to a cluster and its timeline: after a restore or a promotion, they may start again from
 * lower values.
 */
const CLUSTER = `(SELECT system_identifier FROM pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)`;

export const LOG_END = `
  SELECT ${END}::text AS until, split_part(value, ' ', 2) AS epoch,
         split_part(value, ' ', 1) IS NOT DISTINCT FROM ${CLUSTER} AS current
  FROM (SELECT) always LEFT JOIN sluice.installation ON name = 'event_log'`;

/**
 * Stores the cluster of the log and, if the cluster has changed, the time at which the log began anew. Events with
 * transaction ids that this cluster has not reached yet get the present one: they would be invisible until then.
 */
export const BEGIN_LOG = `
  WITH log AS (
    INSERT INTO sluice.installation AS i (name, value) VALUES ('event_log', ${CLUSTER} || ' 0')
    ON CONFLICT (name) DO UPDATE
      SET value = split_part(excluded.value, ' ', 1) || ' ' || floor(extract(epoch FROM clock_timestamp()))::bigint
      WHERE split_part(i.value, ' ', 1) <> split_part(excluded.value, ' ', 1)
    RETURNING value
  )
  UPDATE sluice.events SET xid = pg_current_xact_id()
  WHERE xid > pg_current_xact_id() AND EXISTS (SELECT FROM log WHERE value !~ ' 0$')`;

/** The first page of each account of these events, in the order in which they were recorded. */
const pagesOf = (events: string) => `
  SELECT * FROM (
    SELECT e.account_id AS event_account, e.id::text AS event_id, e.status AS event_status, e.updated_at AS event_at,
           e.attempts AS event_attempts, e.failure_reason AS event_reason, m.*,
           row_number() OVER oldest AS place, lead(e.id) OVER oldest IS NOT NULL AS more,
           sum(coalesce(${contentBytes('m.')}, 0)::float8) OVER oldest AS bytes
    FROM (${events}) e
    -- Retention may have removed it.
    LEFT JOIN LATERAL (SELECT ${shownColumns('m')} FROM sluice.messages m WHERE id = e.message_id) m ON true
    WINDOW oldest AS (PARTITION BY e.account_id ORDER BY e.id)
  ) page
  WHERE place <= ${MAX_EVENTS} AND (bytes <= ${MAX_BYTES} OR place = 1)`;

/** $1: the accounts, $2: the part begins here. */
export const READ_NEW_EVENTS = `
  WITH part AS MATERIALIZED (SELECT ${END} AS until)
  SELECT part.until::text, page.* FROM part LEFT JOIN (
    ${pagesOf(`SELECT * FROM sluice.events
       WHERE xid >= $2::text::xid8 AND xid < (SELECT until FROM part) AND account_id = ANY ($1)`)}
  ) page ON true
  ORDER BY event_account, place`;

/** $1: the account, $2 and $3: the part, $4: the last event that was read of it. */
export const READ_EVENTS = `
  ${pagesOf(`SELECT * FROM sluice.events
    WHERE account_id = $1 AND id > $4::text::bigint AND xid >= $2::text::xid8 AND xid < $3::text::xid8
    ORDER BY account_id, id LIMIT ${MAX_EVENTS + 1}`)}
  ORDER BY place`;

export const DELETE_EVENTS = `
  WITH gone AS (
    DELETE FROM sluice.events e USING (
      SELECT xid, id FROM sluice.events ORDER BY xid, id LIMIT $1
    ) oldest
    WHERE e.xid = oldest.xid AND e.id = oldest.id AND e.recorded_at < now() - ${LIFETIME}
    RETURNING e.id
  ), left_streams AS (
    DELETE FROM sluice.event_streams WHERE open_until < now() - ${LIFETIME}
  )
  SELECT count(*)::int AS count FROM gone`;

/** $1: the account, $2: a new token. It finds no place as well if another stream takes the one that it found, or if the account was deleted. */
export const TAKE_PLACE = `
  INSERT INTO sluice.event_streams AS s (account_id, place, token, open_until)
  SELECT $1, n.place, $2, clock_timestamp() + ${PLACE_LIFETIME} FROM generate_series(1, ${MAX_STREAMS}) AS n (place)
  WHERE NOT EXISTS (
    SELECT FROM sluice.event_streams t
    WHERE t.account_id = $1 AND t.place = n.place AND t.open_until > clock_timestamp()
  ) AND NOT ${isDeleted('$1')}
  LIMIT 1
  ON CONFLICT (account_id, place) DO UPDATE SET token = excluded.token, open_until = excluded.open_until
  WHERE s.open_until <= clock_timestamp()
  RETURNING place`;

/** Rows are locked in the same order by all. */
export const RENEW_PLACES = `
  UPDATE sluice.event_streams s SET open_until = clock_timestamp() + ${PLACE_LIFETIME}
  FROM (
    SELECT account_id, place, token FROM sluice.event_streams
    JOIN unnest($1::text[], $2::int[], $3::uuid[]) AS t (account_id, place, token) USING (account_id, place, token)
    ORDER BY account_id, place FOR UPDATE OF event_streams
  ) held
  WHERE s.account_id = held.account_id AND s.place = held.place
  RETURNING s.token`;

export const LEAVE_PLACE = `
  UPDATE sluice.event_streams SET open_until = clock_timestamp() WHERE account_id = $1 AND place = $2 AND token = $3`;
