/** The settings of a process, published for the modules of handlers, which may import nothing else of Sluice. */
export { Environment } from '#platform/process/environment.js';
/** Posts to receivers that need not mean well, for handlers. */
export { OutgoingConnections } from '#platform/outgoing/connections.js';
export { CurrentQueue } from './application/current-queue.js';
export { JobEvents } from './application/job-events.js';
export { GiveUp, MessageHandler, RetryDelivery, type Delivery } from './application/message-handler.js';
export { IN_POSTGRESQL, QueueContents } from './application/queue-contents.js';
export { ENDED_JOB_LIFETIME_MS, QueueMaintenance } from './application/queue-maintenance.js';
export { StrayMessages } from './application/stray-messages.js';
