export type { AccountResource, ApiKeys, ListOptions } from './account.js';
export {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  SluiceError,
  type LocalErrorCode,
} from './errors.js';
export type { EventOptions, MessageEvent } from './events.js';
export type { List } from './list.js';
export type { MessageFilter, Messages, SendOptions } from './messages.js';
export type { RateLimit, RateLimitWindow } from './rate-limit.js';
export { Sluice, type SluiceOptions } from './sluice.js';
export type { CallOptions, Retry, TransportOptions } from './transport.js';
export type * from './types.js';
