export { EventLog } from './application/event-log.js';
