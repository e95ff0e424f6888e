/**
 * The SQL by which statements of other contexts use the tables of messages. Other contexts must not change rows of
 * these tables in another way.
 */
export { hasEndpoints, hasJob } from './delivery-mode.sql.js';
export { endMessages, retryFailed, startAttempts } from './endpoints/change-at-endpoints.sql.js';
export { hasBeenDelivered, lacks } from './endpoints/retry-to-endpoints.sql.js';
export {
  BYTES,
  COLUMNS,
  columnsOf,
  CONSUMED_COLUMNS,
  contentBytes,
  isDeleted,
  isSuspended,
  OPEN,
  toConsumed,
  toMessage,
  type MessageRow,
} from './message-row.js';
export { insertEntriesToSweep, restartDeliveries } from './start-delivery.sql.js';
