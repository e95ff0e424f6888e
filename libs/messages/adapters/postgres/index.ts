/**
 * The SQL by which statements of other contexts use the tables of messages. Other contexts must not change rows of
 * these tables in another way.
 */
export { DayStatement } from './day-statement.js';
export { hasEndpoints, hasJob } from './delivery-mode.sql.js';
export { endMessages, replayMessages, startAttempts } from './endpoints/change-at-endpoints.sql.js';
export { deliveriesTo } from './endpoints/deliveries-to.sql.js';
export { hasBeenDelivered, isWantedBy, lacks } from './endpoints/retry-to-endpoints.sql.js';
export { BYTES, contentBytes } from './message-size.sql.js';
export { isDeleted, isHalted } from './account-state.sql.js';
export { COLUMNS, columnsOf, CONTENT_COLUMNS, OPEN, toContent, toMessage, type MessageRow } from './message-row.js';
export {
  INSPECT_LINES,
  type InspectedKey,
  IS_BLOCKED,
  NOTHING_RELEASED,
  RELEASED,
  rejoinLines,
  isTakenBack,
} from './order/lines.sql.js';
export { firstWords } from './reading/message-index.sql.js';
export { shownColumns } from './reading/shown-columns.sql.js';
export { insertEntriesToSweep, releasedAt, restartDeliveries } from './start-delivery.sql.js';
