/** What the statements of other contexts use of the table of messages. */
export { BYTES, COLUMNS, FRESH_ATTEMPTS, OPEN, toMessage, type MessageRow } from './message-row.js';
export { hasBeenDelivered, lacks } from './endpoints/retry-to-endpoints.sql.js';
