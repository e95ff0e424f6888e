import { INITIAL_STATUS } from '../../../domain/message-status.js';
import { hasEndpoints } from '../delivery-mode.sql.js';
import { columnsOf, OPEN } from '../message-row.js';

/** When the next attempt of a message is due: as `MessageState.nextAttemptAt` in any delivery mode. */
const nextAttemptAt = (row: string): string => `(
  SELECT due FROM (
    SELECT CASE
      WHEN ${hasEndpoints(`${row}.delivery`)} AND ${row}.status IN (${OPEN}) THEN (
        SELECT min(d.due_at) FROM sluice.endpoint_deliveries d WHERE d.message_id = ${row}.id AND d.token IS NULL)
      WHEN ${row}.status = '${INITIAL_STATUS}'
        THEN greatest(${row}.deliver_at, ${row}.available_at, ${row}.next_attempt_at)
    END AS due
  ) waiting WHERE due > statement_timestamp() AND isfinite(due)
)`;

/**
 * The columns of a message as clients see it.
 * @param row with COLUMNS and `available_at`
 */
export const shownColumns = (row: string): string =>
  columnsOf(row).replace(`${row}.next_attempt_at`, `${nextAttemptAt(row)} AS next_attempt_at`);
