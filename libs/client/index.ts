export type { AccountResource, ApiKeys } from './account.js';
export type {
  AccountFilter,
  Accounts,
  Admin,
  AuditFilter,
  AuditList,
  BanFilter,
  Bans,
  PlanCondition,
  Plans,
} from './admin.js';
export type { ConsumeOptions, HeldMessage } from './consume.js';
export type { DeliveryFilter, Endpoints } from './endpoints.js';
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
export type { EventOptions, StatusEvent } from './events.js';
export type { Leases, Rejection } from './leases.js';
export type { List } from './list.js';
export type { MessageFilter, Messages, SendOptions } from './messages.js';
export type { RateLimit, RateLimitWindow } from './rate-limit.js';
export { Sluice, type SluiceOptions } from './sluice.js';
export type { CallOptions, ListOptions, OnceOptions, ResponseInfo, Retry, TransportOptions } from './transport.js';
export type {
  AcceptedMessage,
  Account,
  AccountChanges,
  AccountDeletion,
  AccountUsagePeriod,
  Acknowledgement,
  ApiKey,
  Attempt,
  AuditEntry,
  Ban,
  CreatedAccount,
  DeliveryMode,
  Endpoint,
  EndpointChanges,
  EndpointDelivery,
  EndpointTest,
  ErrorCode,
  FailedFilter,
  FieldError,
  Lease,
  LeasedMessage,
  LeasedMessages,
  LeaseInput,
  Limits,
  Message,
  MessageDelivery,
  MessageStatus,
  NewAccount,
  NewAccountInput,
  NewApiKey,
  NewApiKeyInput,
  NewEndpoint,
  NewEndpointInput,
  NewMessage,
  OperatorsAccount,
  OperatorsAccountChanges,
  Page,
  Plan,
  PlanInput,
  PortalLink,
  PortalLinkInput,
  Problem,
  QueuedFilter,
  Scope,
  SignUpInput,
  SimulateInput,
  Simulation,
  Time,
  Usage,
  UsagePeriod,
  UsageWindow,
  WebhookPayload,
} from './types.js';
export type { UsageHistoryOptions } from './usage.js';
export { verifyWebhook, WebhookVerificationError, type VerifyOptions, type WebhookHeaders } from './webhooks.js';
