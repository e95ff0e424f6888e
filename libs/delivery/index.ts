/** The settings of a process, published for the modules of handlers, which may import nothing else of Sluice. */
export { Environment } from '#platform/process/environment.js';
/** Posts to receivers that need not mean well, for handlers. */
export { OutgoingConnections } from '#platform/outgoing/connections.js';
export { retryAfterMs } from '#platform/outgoing/retry-after.js';
export { CurrentQueue } from './application/current-queue.js';
export { GiveUp, MessageHandler, RetryDelivery, type Delivery } from './application/message-handler.js';
export { ENDED_JOB_LIFETIME_MS, IN_POSTGRESQL, JobQueue } from './application/job-queue.js';
export { StrayMessages } from './application/stray-messages.js';
