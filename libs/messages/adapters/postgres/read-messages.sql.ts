import { TRANSITIONS } from '../../domain/message-status.js';
import { COLUMNS } from './message-row.js';

export const FIND_MESSAGE = `SELECT ${COLUMNS} FROM sluice.messages WHERE id = $1 AND account_id = $2`;

// Never prepared: planned for the actual values, so that each kind of list uses its index.
export const LIST_MESSAGES = `
  SELECT ${COLUMNS} FROM sluice.messages
  WHERE account_id = $1 AND ($2::text IS NULL OR id < $2) AND ($3::text IS NULL OR status = $3)
  ORDER BY id DESC LIMIT $4`;

/** At least one row if the message exists. */
export const LIST_ATTEMPTS = `
  WITH message AS (
    SELECT * FROM sluice.messages WHERE id = $1 AND account_id = $2
  ), newest AS (
    SELECT number, started_at, outcome, error,
           CASE WHEN ended_at IS NOT NULL THEN
             round(extract(epoch FROM greatest(ended_at, started_at) - started_at) * 1000)::float8
           END AS duration_ms
    FROM sluice.attempts WHERE message_id = $1
    UNION ALL
    SELECT attempts, updated_at, 'running', NULL, NULL FROM message WHERE status = '${TRANSITIONS.startProcessing.to}'
    ORDER BY number DESC LIMIT 1000
  )
  SELECT newest.* FROM message LEFT JOIN newest ON true ORDER BY number`;
