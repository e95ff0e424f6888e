/** A violated rule of the domain. `code` is stable and machine-readable; the message is for people. */
export class DomainError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'DomainError';
  }
}

/** Every error code of the API. `libs/platform/http/problems.ts` maps each to its HTTP status. */
export type ErrorCode =
  | 'invalid_json'
  | 'invalid_content_type'
  | 'validation_failed'
  | 'batch_exceeds_limit'
  | 'malformed_request'
  | 'unauthorized'
  | 'insufficient_scope'
  | 'signup_closed'
  | 'account_suspended'
  | 'not_found'
  | 'message_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'body_too_large'
  | 'unsupported_encoding'
  | 'headers_too_large'
  | 'invalid_transition'
  | 'lease_lost'
  | 'idempotency_key_in_use'
  | 'idempotency_key_reused'
  | 'rate_limit_exceeded'
  | 'api_key_banned'
  | 'too_many_keys'
  | 'account_not_found'
  | 'api_key_not_found'
  | 'ban_not_found'
  | 'endpoint_not_found'
  | 'endpoint_disabled'
  | 'too_many_endpoints'
  | 'too_many_streams'
  | 'webhooks_disabled'
  | 'storage_full'
  | 'internal_error'
  | 'unavailable';

/** An error of a request that may succeed later. */
export class RetryLaterError extends DomainError {
  /** @param retryAfter whole seconds to wait before a retry, at least 1 */
  constructor(
    code: ErrorCode,
    message: string,
    readonly retryAfter: number,
  ) {
    // Thrown for each request of a flood: capturing a stack trace would be most of the cost of a rejection.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(code, message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** An error in one field. `pointer` is a JSON Pointer (RFC 6901) into the request body. */
export interface FieldError {
  readonly pointer: string;
  readonly detail: string;
}

/** Details that become part of the message; `errors` has all. */
const DETAILS_IN_MESSAGE = 3;

/** A request with invalid fields or parameters. */
export class ValidationError extends DomainError {
  constructor(readonly errors: readonly FieldError[]) {
    const details = errors.slice(0, DETAILS_IN_MESSAGE).map(({ detail }) => detail);
    const more = errors.length - details.length;
    super('validation_failed', [...details, ...(more > 0 ? [`More errors: ${more}.`] : [])].join(' '));
  }
}
