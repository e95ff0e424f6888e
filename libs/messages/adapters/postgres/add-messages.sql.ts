import { TRANSITIONS } from '../../domain/message-status.js';
import { BYTES } from './message-row.js';

/** What the statement has in addition when it also stores messages for webhooks or to be pulled. */
interface Others {
  /** Parameters, and the names of their items. */
  readonly arrays: string;
  readonly items: string;
  readonly status: string;
  readonly columns: string;
  readonly values: string;
  readonly isForHandler: string;
  /** Further statements, and rows of ids without an outbox entry. */
  readonly statements: string;
  readonly stored: string;
}

const NONE: Others = {
  ...{ arrays: '', items: '', columns: '', values: '', statements: '', stored: '' },
  ...{ status: '$11', isForHandler: 'true' },
};

const OTHERS: Others = {
  arrays: ', $12::text[], $13::text[]',
  items: ', delivery, failure_reason',
  status: `CASE WHEN failure_reason IS NULL THEN $11 ELSE '${TRANSITIONS.fail.to}' END`,
  columns: ', delivery, available_at, failure_reason',
  values: `, delivery, CASE delivery WHEN 'pull' THEN greatest(deliver_at, now()) END, failure_reason`,
  isForHandler: `delivery = 'handler'`,
  statements: `, deliveries AS (
    INSERT INTO sluice.endpoint_deliveries (message_id, endpoint_id, account_id, due_at, ready)
    SELECT id, endpoint_id, account_id, coalesce(due_at, clock_timestamp()), due_at IS NULL
    FROM unnest($14::text[], $15::text[]) AS t (id, endpoint_id) JOIN accepted USING (id)
  )`,
  stored: `UNION ALL
  SELECT NULL, array_agg(id), NULL FROM accepted WHERE delivery <> 'handler' HAVING count(*) > 0`,
};

/**
 * One group commit: idempotency keys, and for each message whose key is new (or that has none) its row and a common
 * outbox entry; scheduled messages share one for each time, and messages without a job have none. The key of a request is
 * in the row of its first message; all its messages name that one as their `head`, so that they are stored together or not
 * at all.
 *
 * Keys are always inserted in the same order, so that two processes with the same keys can't deadlock; the second one
 * waits for the commit of the first and then inserts nothing.
 */
const addMessages = (others: Others): string => `
  WITH input AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::text[],
                         $8::bytea[], $9::text[], $10::timestamptz[]${others.arrays})
      AS t (id, account_id, text, created_at, traceparent, head, key, fingerprint, batch, deliver_at${others.items})
  ), first_uses AS (
    INSERT INTO sluice.idempotency_keys (account_id, key, fingerprint, message_id, message_ids, created_at)
    SELECT account_id, key, fingerprint, id, batch::text[], created_at FROM input WHERE key IS NOT NULL
    ORDER BY account_id, key
    ON CONFLICT DO NOTHING
    RETURNING message_id
  ), accepted AS (
    INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at, traceparent,
                                 deliver_at${others.columns})
    SELECT id, account_id, text, ${others.status}, created_at, created_at, traceparent, deliver_at${others.values}
    FROM input
    WHERE head IS NULL OR head IN (SELECT message_id FROM first_uses)
    RETURNING id, account_id, delivery, ${BYTES} AS bytes, CASE WHEN deliver_at > now() THEN deliver_at END AS due_at
  ), entries AS (
    INSERT INTO sluice.outbox (message_ids, bytes, due_at, for_sweeper)
    SELECT array_agg(id), sum(bytes), coalesce(due_at, clock_timestamp()), due_at IS NOT NULL
    FROM accepted WHERE ${others.isForHandler} GROUP BY due_at
    RETURNING id, message_ids, for_sweeper
  )${others.statements}
  SELECT id, message_ids, for_sweeper FROM entries
  ${others.stored}`;

/** $1 to $11. Only messages for handlers: these, which are most, do not pay for the others. */
export const ADD_HANDLER_MESSAGES = addMessages(NONE);

/** $1 to $15. */
export const ADD_MESSAGES = addMessages(OTHERS);
