/** The settings of a process, published for the modules of handlers, which may import nothing else of Sluice. */
export { Environment } from '#platform/process/environment.js';
export type { Backlog } from './application/backlogs.js';
export { DeliveryTargets, type Sender } from './application/delivery-targets.js';
export {
  EndpointDeliveries,
  type AbandonReason,
  type DeliveryResult,
  type DueEndpoint,
  type LeasedDelivery,
} from '#webhooks/application/endpoint-deliveries.js';
export { GetMessageUsage, type MessageUsage, type Storage } from './application/get-message-usage.js';
export { StorageCap } from './application/storage-cap.js';
export { GiveUp, MessageHandler, RetryDelivery, type Delivery } from '#delivery/application/message-handler.js';
