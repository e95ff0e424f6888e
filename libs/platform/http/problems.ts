import { DomainError, ValidationError, type ErrorCode, type FieldFault } from '#kernel/domain-error.js';

/** How each error is told over HTTP: the one place where codes meet statuses. */
export const PROBLEMS: Readonly<Record<ErrorCode, { readonly status: number; readonly title: string }>> = {
  invalid_json: { status: 400, title: 'The body is not valid JSON' },
  invalid_content_type: { status: 400, title: 'The Content-Type is not application/json' },
  validation_failed: { status: 400, title: 'The request has invalid fields' },
  batch_exceeds_limit: { status: 400, title: 'The batch is larger than the plan allows' },
  malformed_request: { status: 400, title: 'The request is not valid HTTP' },
  unauthorized: { status: 401, title: 'The API key is missing or invalid' },
  insufficient_scope: { status: 403, title: 'The API key lacks a scope' },
  signup_closed: { status: 403, title: 'Sign-up is closed' },
  not_found: { status: 404, title: 'There is nothing here' },
  message_not_found: { status: 404, title: 'There is no such message' },
  method_not_allowed: { status: 405, title: 'The path does not support this method' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_encoding: { status: 415, title: 'The Content-Encoding is not supported' },
  headers_too_large: { status: 431, title: 'The headers or the path are too large' },
  invalid_transition: { status: 409, title: 'The status of the message does not allow this' },
  idempotency_key_in_use: { status: 409, title: 'A request with this Idempotency-Key is under way' },
  idempotency_key_reused: { status: 422, title: 'The Idempotency-Key was used for another request' },
  too_many_keys: { status: 409, title: 'The account has too many API keys' },
  account_not_found: { status: 404, title: 'There is no such account' },
  api_key_not_found: { status: 404, title: 'There is no such API key' },
  ban_not_found: { status: 404, title: 'The API key is not banned' },
  rate_limit_exceeded: { status: 429, title: 'The rate limit is exceeded' },
  api_key_banned: { status: 429, title: 'The API key is banned for a while' },
  internal_error: { status: 500, title: 'Something went wrong on our side' },
  unavailable: { status: 503, title: 'The service is temporarily unavailable' },
};

/** Seconds after which a caller may try again when the service itself can't say better. */
export const UNAVAILABLE_RETRY_AFTER = 1;

/** A problem document (RFC 9457). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly requestId: string;
  readonly errors?: readonly FieldFault[];
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export function toProblem(error: DomainError, requestId: string): Problem {
  const { status, title } = PROBLEMS[error.code];
  const problem = { type: `/errors/${error.code}`, title, status, detail: error.message, code: error.code, requestId };
  if (error instanceof ValidationError) return { ...problem, errors: error.faults };
  return status === 400 ? { ...problem, errors: [{ pointer: '', detail: error.message }] } : problem;
}
