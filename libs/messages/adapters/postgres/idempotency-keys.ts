/** The first request of each key. */
export const FIND_FIRST_USES = `
  SELECT t.ordinal::int - 1 AS index, k.fingerprint, k.message_id, k.message_ids, k.created_at
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (account_id, key, ordinal)
  JOIN sluice.idempotency_keys k USING (account_id, key)`;

export const DELETE_KEY = 'DELETE FROM sluice.idempotency_keys WHERE account_id = $1 AND key = $2 AND message_id = $3';

export const DELETE_EXPIRED_KEYS = `
  DELETE FROM sluice.idempotency_keys WHERE ctid IN (
    SELECT ctid FROM sluice.idempotency_keys WHERE created_at < $1 LIMIT $2
  ) AND created_at < $1 RETURNING 1`;
