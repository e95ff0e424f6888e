/** How messages are shown by the routes of other contexts. */
export { CREATED_AT, EVENTS, MESSAGE_ID, messageView, TEXT } from './message-views.js';
