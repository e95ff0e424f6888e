export { Availability, WEBHOOKS } from './application/delivering/availability.js';
export type { Backlog } from './application/backlogs.js';
export { Deliveries, type Job, type JobEnd } from './application/delivering/deliveries.js';
export { ExpiredLeases } from './application/delivering/expired-leases.js';
export { GetMessageUsage, type MessageUsage, type Storage } from './application/storage/get-message-usage.js';
export { messageNotFound } from './application/read-messages.js';
export { BATCH_BYTES, JobDispatch, type OutboxEntry } from './application/delivering/job-dispatch.js';
export { Leases, type Lease } from './application/delivering/leases.js';
export { Messages, type OnStarted } from './application/messages.js';
export { StuckKeys } from './application/delivering/stuck-keys.js';
export { StorageCap } from './application/storage/storage-cap.js';
export { MAX_REASON_LENGTH, toReason } from './domain/attempt.js';
export { ENDPOINT_DELIVERY_STATUSES, type EndpointDeliveryStatus } from './domain/endpoint-delivery-status.js';
export { isReserved, MAX_TYPE } from './domain/message-type.js';
export { isTypePattern, matchesType, TYPE_PATTERN } from './domain/type-pattern.js';
export { MESSAGE_STATUSES, OPEN_STATUSES, TRANSITIONS, type MessageStatus } from './domain/message-status.js';
export {
  contentJson,
  contentOfJson,
  MessageContent,
  type ContentValues,
  type ContentJson,
} from './domain/message-content.js';
export type { Message } from './domain/message.js';
export { ATTEMPT_BYTES, bytesOf, DELIVERY_BYTES } from './domain/message-size.js';
export { backoff, POISON_AFTER_LONE_CRASHES, SUSPECT_AFTER_CRASHES, type RetryPolicy } from './domain/retry-policy.js';
export type { MessagesSettings } from './settings.js';
