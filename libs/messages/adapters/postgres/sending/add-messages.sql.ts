import { NO_ENDPOINT } from '../../../domain/message.js';
import { CONTENT } from '../../../domain/message-content.js';
import { INITIAL_STATUS, TRANSITIONS } from '../../../domain/message-status.js';
import { hasEndpoints, hasJob } from '../delivery-mode.sql.js';
import { BYTES } from '../message-size.sql.js';
import { isHalted } from '../account-state.sql.js';
import { type ContentRow } from '../message-row.js';
import { takePositions } from '../order/lines.sql.js';
import { endpointsFor, hasEnabledEndpoint } from '../endpoints/retry-to-endpoints.sql.js';
import { availableFrom, insertDeliveries, insertEntries } from '../start-delivery.sql.js';

/** The parameters, each an array with a value for each message, and their types. */
const OWN_COLUMNS = {
  id: 'text',
  account_id: 'text',
  created_at: 'timestamptz',
  traceparent: 'text',
  /** The message whose row has the key of the request; null without a key. */
  head: 'text',
  key: 'text',
  fingerprint: 'bytea',
  /** The ids of all messages of the request, if they are several, as an array in text. */
  batch: 'text',
  /** Last, since ADD_MESSAGES_WITH_JOBS does without. */
  delivery: 'text',
} as const;

const CONTENT_TYPES = { text: 'text', time: 'timestamptz', object: 'json' } as const;
const CONTENT_COLUMNS = Object.fromEntries(CONTENT.map(({ column, kind }) => [column, CONTENT_TYPES[kind]]));
const CONTENT_NAMES = Object.keys(CONTENT_COLUMNS).join(', ');
const SENT_COLUMNS: Readonly<Record<string, string>> = { ...CONTENT_COLUMNS, ...OWN_COLUMNS };

export type SentRow = Readonly<Record<keyof typeof OWN_COLUMNS, unknown>> & ContentRow;
export type SentColumn = keyof SentRow;

interface AddMessages {
  readonly text: string;
  readonly columns: readonly SentColumn[];
}

/**
 * Of each account and type: the endpoints to which its messages go. Each is looked up by itself: for a join, a planner may
 * read the endpoints of all accounts.
 */
const ENDPOINTS = `, endpoints AS MATERIALIZED (
    SELECT account_id, of_type, ${endpointsFor('sender.account_id', 'sender.type')} AS ids
    FROM (SELECT DISTINCT account_id, type, of_type FROM input WHERE ${hasEndpoints('delivery')}) sender
  )`;

/** What endpoints are joined by: the type of a message, also of one without. */
const OF_TYPE = `coalesce(type, '') AS of_type`;

/** Whether a message for webhooks goes to no endpoint: it is skipped, or has failed if there is none at all. */
const WITHOUT_ENDPOINT = `${hasEndpoints('delivery')} AND ids = '{}'`;

const DELIVERIES = `, deliveries AS (${insertDeliveries(`
      SELECT m.id AS message_id, e.id AS endpoint_id, m.account_id,
             CASE WHEN o.released IS FALSE THEN 'infinity' ELSE coalesce(m.due_at, clock_timestamp()) END AS due_at
      FROM accepted m JOIN endpoints USING (account_id, of_type) CROSS JOIN unnest(endpoints.ids) AS e (id)
      LEFT JOIN ordered o ON o.message_id = m.id AND o.line = e.id
      WHERE ${hasEndpoints('m.delivery')}`)}
  )`;

/** The first request with a key has inserted it, in this statement. */
const IS_ACCEPTED = 'head IS NULL OR head IN (SELECT message_id FROM first_uses)';

/** The places of messages with an ordering key. */
const ORDERED = `, ordered AS MATERIALIZED (${takePositions(`(
      SELECT id AS message_id, ordering_key, deliver_at AS due_at, place, account_id || ' ' || delivery AS line
      FROM input WHERE ordering_key IS NOT NULL AND NOT (${hasEndpoints('delivery')}) AND (${IS_ACCEPTED})
      UNION ALL
      SELECT input.id, ordering_key, deliver_at, place, e.id
      FROM input JOIN endpoints USING (account_id, of_type) LEFT JOIN unnest(endpoints.ids) AS e (id) ON true
      WHERE ordering_key IS NOT NULL AND ${hasEndpoints('delivery')} AND (${IS_ACCEPTED})
    ) members`)}
  ), placed AS MATERIALIZED (
    SELECT message_id AS id, position, bool_and(released) AS released FROM ordered GROUP BY message_id, position
  )`;

/** Handlers and consumers get the message only after another one. */
const IS_BLOCKED = 'released IS FALSE';

/** The messages without an entry yet, of each account and mode, and to how many endpoints each of them goes. */
const OTHERS = `
  UNION ALL
  SELECT NULL, array_agg(id), NULL, endpoints FROM (
    SELECT id, account_id, delivery,
           CASE WHEN ${hasEndpoints('delivery')} THEN cardinality(ids) ELSE 0 END AS endpoints
    FROM accepted LEFT JOIN endpoints USING (account_id, of_type) LEFT JOIN placed USING (id)
    WHERE NOT (${hasJob('delivery')}) OR ${IS_BLOCKED}
  ) other
  GROUP BY account_id, delivery, endpoints`;

/**
 * One group commit: idempotency keys, and for each message whose key is new (or that has none) its row and what puts it on
 * its way. Messages with a job share an outbox entry; scheduled ones share one for each time. The key of a request is in
 * the row of its first message; all its messages name that one as their `head`, so that they are stored together or not at
 * all.
 *
 * Keys are always inserted in the same order, so that two processes with the same keys can't deadlock; the second one
 * waits for the commit of the first and then inserts nothing.
 *
 * @param ofAnyKind whether some of the messages have no job or an ordering key; otherwise the statement does nothing for these
 */
function addMessages(ofAnyKind: boolean): AddMessages {
  const columns = (Object.keys(SENT_COLUMNS) as SentColumn[]).filter((column) => ofAnyKind || column !== 'delivery');
  const parameters = columns.map((column, index) => `$${index + 1}::${SENT_COLUMNS[column] ?? ''}[]`);
  const ifAnyKind = (sql: string): string => (ofAnyKind ? sql : '');
  const status = ofAnyKind
    ? `CASE WHEN NOT (${WITHOUT_ENDPOINT}) THEN '${INITIAL_STATUS}'
            WHEN ${hasEnabledEndpoint('input.account_id')} THEN '${TRANSITIONS.skip.to}' ELSE '${TRANSITIONS.fail.to}' END`
    : `'${INITIAL_STATUS}'`;
  const text = `
  WITH input AS (
    SELECT *${ifAnyKind(`, ${OF_TYPE}`)} FROM unnest(${parameters.join(', ')}) ${ifAnyKind('WITH ORDINALITY')} AS t (${columns.join(', ')}${ifAnyKind(', place')})
  ), first_uses AS (
    INSERT INTO sluice.idempotency_keys (account_id, key, fingerprint, message_id, message_ids, created_at)
    SELECT account_id, key, fingerprint, id, batch::text[], created_at FROM input WHERE key IS NOT NULL
    ORDER BY account_id, key
    ON CONFLICT DO NOTHING
    RETURNING message_id
  )${ifAnyKind(ENDPOINTS + ORDERED)}, accepted AS (
    INSERT INTO sluice.messages (id, account_id, ${CONTENT_NAMES}, status, created_at, updated_at, traceparent
                                 ${ifAnyKind(', delivery, available_at, failure_reason, position')})
    SELECT id, account_id, ${CONTENT_NAMES}, ${status}, created_at, created_at, traceparent
           ${ifAnyKind(`, delivery
           , ${availableFrom(`CASE WHEN ${IS_BLOCKED} THEN 'infinity' ELSE greatest(deliver_at, now()) END`)}
           , CASE WHEN ${WITHOUT_ENDPOINT} AND NOT ${hasEnabledEndpoint('input.account_id')} THEN '${NO_ENDPOINT}' END, position`)}
    FROM input ${ifAnyKind('LEFT JOIN endpoints USING (account_id, of_type) LEFT JOIN placed USING (id)')}
    WHERE ${IS_ACCEPTED}
    RETURNING id, account_id, delivery${ifAnyKind(`, ${OF_TYPE}`)}, ${BYTES} AS bytes, CASE WHEN deliver_at > now() THEN deliver_at END AS due_at
  ), entries AS (${insertEntries({
    rows: ofAnyKind
      ? `(
      SELECT accepted.* FROM accepted LEFT JOIN placed USING (id)
      WHERE ${hasJob('delivery')} AND (${IS_BLOCKED}) IS NOT TRUE) accepted`
      : 'accepted',
    groupBy: 'due_at',
    dueAt: 'coalesce(due_at, clock_timestamp())',
    forSweeper: 'due_at IS NOT NULL',
    // Scheduled messages have to be found when they are due.
    isHalted: `due_at IS NULL AND ${isHalted('account_id')}`,
  })}
    RETURNING id, message_ids, for_sweeper
  )${ifAnyKind(DELIVERIES)}
  SELECT id, message_ids, for_sweeper, 0 AS endpoints FROM entries
  ${ifAnyKind(OTHERS)}`;
  return { text, columns };
}

/** For messages that all have a job, and no ordering key. These, which are most, do not pay for the others. */
export const ADD_MESSAGES_WITH_JOBS = addMessages(false);

/** For messages of any mode, with or without an ordering key. */
export const ADD_MESSAGES = addMessages(true);
