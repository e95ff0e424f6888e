export { CancelMessage } from './application/cancel-message.js';
export { GetMessage } from './application/get-message.js';
export { ListMessages } from './application/list-messages.js';
export { GiveUp, MessageHandler, RetryDelivery, type Delivery } from './application/message-handler.js';
export type { Accepted, Page } from './application/messages.js';
export { RetryMessage } from './application/retry-message.js';
export { SendMessage } from './application/send-message.js';
export { Message } from './domain/message.js';
export { MESSAGE_STATUSES, type MessageStatus } from './domain/message-status.js';
