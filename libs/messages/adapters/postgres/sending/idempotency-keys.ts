import { DomainError } from '#kernel/domain-error.js';
import type { Database } from '#platform/database/database.js';
import type { Accepted } from '../../../application/messages.js';
import { KEY_LIFETIME_MS, type Idempotency } from '../../../domain/idempotency.js';
import { Message } from '../../../domain/message.js';

/*
 * The first request with a key inserts it in the transaction of its messages (ADD_MESSAGES). Every later one inserts
 * nothing and gets its result from the key's row.
 */

/** `statement_timestamp()` does not change within a statement, so that an index can be used. */
const isExpired = (lifetimeMs: string) =>
  `stored_at <= statement_timestamp() - ${lifetimeMs} * interval '1 millisecond'`;

const FIND_FIRST_USES = `
  SELECT t.ordinal::int - 1 AS index, k.fingerprint, k.message_id, k.message_ids, k.created_at,
         ${isExpired('$3')} AS is_expired
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (account_id, key, ordinal)
  JOIN sluice.idempotency_keys k USING (account_id, key)`;

export const FIND_KEY = `
  SELECT FROM sluice.idempotency_keys
  WHERE account_id = $1 AND key = $2 AND NOT ${isExpired('$3')}`;

const DELETE_KEY = 'DELETE FROM sluice.idempotency_keys WHERE account_id = $1 AND key = $2 AND message_id = $3';

export const DELETE_EXPIRED_KEYS = `
  DELETE FROM sluice.idempotency_keys WHERE ctid IN (
    SELECT ctid FROM sluice.idempotency_keys WHERE ${isExpired('$1')} ORDER BY stored_at LIMIT $2
  ) AND ${isExpired('$1')} RETURNING 1`;

/** Messages that are stored together, identified by the first. */
export interface Request {
  readonly first: Message;
  readonly messages: readonly Message[];
  readonly idempotency: Idempotency | null;
}

/** The result of a request; null when its key has expired in the meantime and the request must be repeated. */
export type KeyResult = Accepted | DomainError | null;

interface FirstUse {
  index: number;
  fingerprint: Buffer;
  message_id: string;
  /** All messages of a batch; null when the key was used for a single one. */
  message_ids: string[] | null;
  created_at: Date;
  is_expired: boolean;
}

/** The results of requests whose key was used before, by the id of their first message. */
export async function resultsOfUsedKeys(database: Database, requests: Request[]): Promise<Map<string, KeyResult>> {
  const results = new Map<string, KeyResult>();
  if (requests.length === 0) return results;
  const uses = await database.query<FirstUse>(FIND_FIRST_USES, [
    requests.map(({ first }) => first.state.accountId),
    requests.map(({ idempotency }) => idempotency?.key),
    KEY_LIFETIME_MS,
  ]);
  for (const use of uses) {
    const request = requests[use.index];
    if (request !== undefined) results.set(request.first.id, await resultOf(database, request, use));
  }
  return results;
}

async function resultOf(
  database: Database,
  { first, messages, idempotency }: Request,
  use: FirstUse,
): Promise<KeyResult> {
  const { accountId } = first.state;
  if (use.is_expired) {
    await database.query(DELETE_KEY, [accountId, idempotency?.key, use.message_id]);
    return null;
  }
  if (idempotency?.fingerprint.equals(use.fingerprint) !== true) {
    return new DomainError(
      'idempotency_key_reused',
      'The Idempotency-Key was used for a different request. Use a new one.',
    );
  }
  // Stored, and then repeated because something else in the same run failed after the commit.
  if (use.message_id === first.id) return { messages, deliveries: 0, replayed: false };
  const ids = use.message_ids ?? [use.message_id];
  const at = { createdAt: use.created_at, updatedAt: use.created_at };
  const stored = messages.map(({ state }, index) => Message.restore({ ...state, id: ids[index] ?? '', ...at }));
  return { messages: stored, deliveries: 0, replayed: true };
}
