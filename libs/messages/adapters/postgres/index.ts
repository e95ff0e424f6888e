/** What the statements of other contexts use of the tables of messages. Nothing else changes a row of these. */
export { hasEndpoints, hasJob } from './delivery-mode.sql.js';
export { endMessages, retryFailed, startAttempts } from './endpoints/change-at-endpoints.sql.js';
export { hasBeenDelivered, lacks } from './endpoints/retry-to-endpoints.sql.js';
export {
  BYTES,
  COLUMNS,
  columnsOf,
  CONSUMED_COLUMNS,
  contentBytes,
  isSuspended,
  OPEN,
  toConsumed,
  toMessage,
  type MessageRow,
} from './message-row.js';
export { insertEntriesToSweep, restartDeliveries } from './start-delivery.sql.js';
