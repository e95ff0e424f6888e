/** A rule of the domain that was broken. `code` is stable and machine-readable; the message is for people. */
export class DomainError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'DomainError';
  }
}

/** Every code a caller can meet. How each is told over HTTP stands in one table: `libs/platform/http/problems.ts`. */
export type ErrorCode =
  | 'invalid_json'
  | 'invalid_content_type'
  | 'validation_failed'
  | 'batch_exceeds_limit'
  | 'malformed_request'
  | 'unauthorized'
  | 'insufficient_scope'
  | 'signup_closed'
  | 'not_found'
  | 'message_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'body_too_large'
  | 'unsupported_encoding'
  | 'headers_too_large'
  | 'invalid_transition'
  | 'idempotency_key_in_use'
  | 'idempotency_key_reused'
  | 'rate_limit_exceeded'
  | 'api_key_banned'
  | 'too_many_keys'
  | 'account_not_found'
  | 'api_key_not_found'
  | 'ban_not_found'
  | 'storage_full'
  | 'internal_error'
  | 'unavailable';

/** What may succeed after some time. */
export class RetryLaterError extends DomainError {
  /** @param retryAfter whole seconds, at least 1, after which a repetition may pass */
  constructor(
    code: ErrorCode,
    message: string,
    readonly retryAfter: number,
  ) {
    // A flood is refused with it: to note where it was thrown would be the largest part of each refusal's cost.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(code, message);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** What is wrong with one field. `pointer` is a JSON Pointer (RFC 6901) into the request body. */
export interface FieldFault {
  readonly pointer: string;
  readonly detail: string;
}

/** Details that are told in the sentence for people; the list of faults has all. */
const DETAILS_TOLD = 3;

/** A request that can never succeed as it is: names every field at fault. */
export class ValidationError extends DomainError {
  constructor(readonly faults: readonly FieldFault[]) {
    const told = faults.slice(0, DETAILS_TOLD).map(({ detail }) => detail);
    const more = faults.length - told.length;
    super('validation_failed', [...told, ...(more > 0 ? [`There are ${more} more faults.`] : [])].join(' '));
  }
}
