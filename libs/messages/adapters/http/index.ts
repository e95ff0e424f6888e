/** How messages are shown by the routes of other contexts. */
export { CONTENT, OPTIONAL_CONTENT, REQUIRED_CONTENT } from './content-views.js';
export { CREATED_AT, EVENTS, MESSAGE_ID, messageView } from './message-views.js';
