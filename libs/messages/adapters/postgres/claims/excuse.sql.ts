import { WORKER_STALLED } from '../../../domain/attempt.js';
import { MAX_EXCUSED } from '../../../domain/retry-policy.js';
import { OPEN } from '../message-row.js';

/** $1 message, $2 its round, $3 the attempt that was lost. */
export const EXCUSE = `
  WITH held AS MATERIALIZED (
    SELECT id FROM sluice.messages WHERE id = $1 AND retries = $2 AND status IN (${OPEN}) AND crashes > 0 FOR UPDATE
  ), excused AS (
    UPDATE sluice.attempts a SET error = '${WORKER_STALLED}' FROM held
    WHERE a.message_id = $1 AND a.number = $3 AND a.outcome = 'lost' AND a.error IS NULL AND (
      SELECT count(*) FROM sluice.attempts WHERE message_id = $1 AND error = '${WORKER_STALLED}' AND outcome = 'lost'
    ) < ${MAX_EXCUSED}
    RETURNING a.message_id
  )
  UPDATE sluice.messages m SET crashes = m.crashes - 1 FROM excused WHERE m.id = $1`;
