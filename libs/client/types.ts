/** The types of the API under the names that users see. No other file uses the generated names. */
import type { components, ErrorCodes } from './openapi.js';

type Schemas = components['schemas'];

/** A time: a `Date`, or a string such as `2030-01-31T12:00:00Z`. */
export type Time = Date | string;

export type Message = Schemas['Message'];
export type AcceptedMessage = Schemas['AcceptedMessage'];
export type MessageStatus = Message['status'];
export type Attempt = Schemas['Attempt'];
export type EndpointDelivery = Schemas['EndpointDelivery'];
export type MessageDelivery = Schemas['MessageDelivery'];
export type NewAccount = Schemas['NewAccount'];
export type Account = Schemas['Account'];
export type DeliveryMode = Account['delivery'];
export type Limits = Schemas['Limits'];
export type Usage = Schemas['Usage'];
export type UsageWindow = Schemas['UsageWindow'];
export type UsagePeriod = Schemas['UsagePeriod'];
export type AccountUsagePeriod = Schemas['AccountUsagePeriod'];
export type Simulation = Schemas['Simulation'];
export type ApiKey = Schemas['ApiKey'];
export type NewApiKey = Schemas['IssuedKey'];
export type Scope = ApiKey['scopes'][number];
export type Endpoint = Schemas['Endpoint'];
export type NewEndpoint = Schemas['IssuedEndpoint'];
export type EndpointTest = Schemas['TestResult'];
export type LeasedMessage = Schemas['LeasedMessage'];
export type LeasedMessages = Schemas['LeasedMessages'];
export type Acknowledgement = Schemas['Acknowledgement'];
export type OperatorsAccount = Schemas['OperatorsAccount'];
export type CreatedAccount = Schemas['CreatedAccount'];
export type AccountDeletion = Schemas['AccountDeletion'];
export type PortalLink = Schemas['PortalLink'];
export type Ban = Schemas['Ban'];
export type Plan = Schemas['Plan'];
export type AuditEntry = Schemas['AuditEntry'];
export type FieldError = Schemas['FieldFault'];
export type Problem = Schemas['Problem'];
export type WebhookPayload = Schemas['MessageWebhook'];

export type { ErrorCodes };
export type ErrorCode = ErrorCodes[keyof ErrorCodes];

/** One page of a list. `nextCursor` is null on the last one. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly nextCursor: string | null;
}

export type NewMessage = Input<Schemas['SendMessageBody']>;
/** Which queued messages: of this type, or with `order.*` of all types that begin so; and when they were accepted. */
export type QueuedFilter = Input<Schemas['CancelQueuedBody']>;
/** Which failed messages, likewise; the period must be named. */
export type FailedFilter = Input<Schemas['RetryFailedBody']>;
export type SignUpInput = Input<Schemas['SignUpBody']>;
export type AccountChanges = Input<Schemas['ChangeOwnAccountBody']>;
export type SimulateInput = Input<Schemas['SimulateBody']>;
export type NewApiKeyInput = Input<Schemas['CreateApiKeyBody']>;
export type NewEndpointInput = Input<Schemas['CreateEndpointBody']>;
export type EndpointChanges = Input<Schemas['ChangeEndpointBody']>;
export type LeaseInput = Input<Schemas['LeaseBody']>;
export type Lease = Schemas['AcknowledgedLease'];
export type NewAccountInput = Input<Schemas['CreateAccountBody']>;
export type PortalLinkInput = Input<Schemas['CreatePortalLinkBody']>;
export type OperatorsAccountChanges = Input<Schemas['ChangeAccountBody']>;
export type PlanInput = Input<Schemas['PutPlanBody']>;

/** A body as callers write it: optional fields may be undefined, and times may be `Date`s. */
type Input<Body> = {
  readonly [Field in keyof Body]:
    | (Field extends TimeField ? Time | Exclude<Body[Field], string> : Body[Field])
    | (undefined extends Body[Field] ? undefined : never);
};

type TimeField = 'deliverAt' | 'expiresAt' | 'since' | 'until';
