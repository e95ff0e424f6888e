import { TRANSITIONS } from '../../domain/message-status.js';
import { BYTES, COLUMNS } from './message.schema.js';

/**
 * One transaction for all that waits: idempotency keys, and with each message whose key is new (or that has none) its row
 * and a common outbox entry; those for later share one for each time. A request's key stands in the row of its first
 * message; all its messages name that one as their `head`, so that they are stored together or not at all.
 *
 * Keys are inserted in one order everywhere, so that two processes with the same keys can't lock each other out; of
 * two that meet, the second waits for the first's commit and then inserts nothing.
 */
export const ACCEPT = `
  WITH input AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::text[],
                         $8::bytea[], $9::text[], $10::timestamptz[])
      AS t (id, account_id, body, created_at, traceparent, head, key, fingerprint, batch, deliver_at)
  ), first_uses AS (
    INSERT INTO sluice.idempotency_keys (account_id, key, fingerprint, message_id, message_ids, created_at)
    SELECT account_id, key, fingerprint, id, batch::text[], created_at FROM input WHERE key IS NOT NULL
    ORDER BY account_id, key
    ON CONFLICT DO NOTHING
    RETURNING message_id
  ), accepted AS (
    INSERT INTO sluice.messages (id, account_id, body, status, created_at, updated_at, traceparent, deliver_at)
    SELECT id, account_id, body, $11, created_at, created_at, traceparent, deliver_at FROM input
    WHERE head IS NULL OR head IN (SELECT message_id FROM first_uses)
    RETURNING id, ${BYTES} AS bytes, CASE WHEN deliver_at > now() THEN deliver_at END AS due_at
  ), entries AS (
    INSERT INTO sluice.outbox (message_ids, bytes, due_at, for_sweeper)
    SELECT array_agg(id), sum(bytes), coalesce(due_at, clock_timestamp()), due_at IS NOT NULL
    FROM accepted GROUP BY due_at
    RETURNING id, message_ids, for_sweeper
  )
  SELECT id, message_ids, for_sweeper FROM entries`;

/** What the keys were first used for. */
export const FIRST_USES = `
  SELECT t.ordinal::int - 1 AS index, k.fingerprint, k.message_id, k.message_ids, k.created_at
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (account_id, key, ordinal)
  JOIN sluice.idempotency_keys k USING (account_id, key)`;

export const FORGET_KEY = 'DELETE FROM sluice.idempotency_keys WHERE account_id = $1 AND key = $2 AND message_id = $3';

export const FORGET_KEYS = `
  DELETE FROM sluice.idempotency_keys WHERE ctid IN (
    SELECT ctid FROM sluice.idempotency_keys WHERE created_at < $1 LIMIT $2
  ) AND created_at < $1 RETURNING 1`;

/**
 * The next failed messages of an account, by id. Their outbox entries are a sweeper's, of some 4 MiB each, since nobody
 * has the messages at hand.
 */
export const RETRY_FAILED = `
  WITH failed AS (
    SELECT id FROM sluice.messages
    WHERE account_id = $1 AND status = '${TRANSITIONS.retry.from}' AND id >= $2 AND id < $3
    ORDER BY id LIMIT $4 FOR UPDATE
  ), moved AS (
    UPDATE sluice.messages m
    SET status = '${TRANSITIONS.retry.to}', updated_at = clock_timestamp(), retries = m.retries + 1, failures = 0,
        crashes = 0, lone_crashes = 0, failure_reason = NULL
    FROM failed WHERE m.id = failed.id
    RETURNING m.id, ${BYTES} AS bytes
  ), entries AS (
    INSERT INTO sluice.outbox (message_ids, bytes, for_sweeper)
    SELECT array_agg(id), sum(bytes), true
    FROM (SELECT id, bytes, sum(bytes) OVER (ORDER BY id) / 4194304 AS entry FROM moved) m GROUP BY entry
  )
  SELECT count(*)::int AS count, max(id) AS last FROM moved`;

/** A compare-and-set: the three columns of the condition change with every transition. */
export const CHANGE = `
  WITH moved AS (
    UPDATE sluice.messages
    SET status = $5, updated_at = clock_timestamp(), retries = $6, failures = $7, crashes = $8, lone_crashes = $9,
        failure_reason = $10
    WHERE id = $1 AND status = $2 AND attempts = $3 AND retries = $4
    RETURNING id, updated_at, ${BYTES} AS bytes
  ), entry AS (
    INSERT INTO sluice.outbox (message_ids, bytes)
    SELECT ARRAY[id], bytes FROM moved WHERE $11
    RETURNING id
  )
  SELECT updated_at, (SELECT id FROM entry) AS entry_id FROM moved`;

export const FIND = `SELECT ${COLUMNS} FROM sluice.messages WHERE id = $1 AND account_id = $2`;

// Never prepared: it is planned for what is asked for, so that each kind of list has the index that suits it.
export const LIST = `
  SELECT ${COLUMNS} FROM sluice.messages
  WHERE account_id = $1 AND ($2::text IS NULL OR id < $2) AND ($3::text IS NULL OR status = $3)
  ORDER BY id DESC LIMIT $4`;
