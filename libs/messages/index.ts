/** The settings of a process, published for the modules of handlers, which may import nothing else of Sluice. */
export { Environment } from '#platform/environment.js';
export type { Backlog } from './application/backlogs.js';
export { DeliveryTargets, type Sender } from './application/delivery-targets.js';
export {
  EndpointDeliveries,
  type AbandonReason,
  type DeliveryResult,
  type DueEndpoint,
  type LeasedDelivery,
} from './application/endpoint-deliveries.js';
export { GetMessageUsage, type MessageUsage, type Storage } from './application/get-message-usage.js';
export { toReason } from './domain/attempt.js';
export { StorageCap } from './application/storage-cap.js';
export { GiveUp, MessageHandler, RetryDelivery, type Delivery } from './application/message-handler.js';
