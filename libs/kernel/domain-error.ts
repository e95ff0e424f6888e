/**
 * A violated rule of the domain. `code` is stable and machine-readable; `errors.ts` of the context describes it. The
 * message is for people.
 */
export class DomainError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = 'DomainError';
  }
}

/** An error of a request that may succeed later. */
export class RetryLaterError extends DomainError {
  /** @param retryAfter whole seconds to wait before a retry, at least 1 */
  constructor(
    code: string,
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
