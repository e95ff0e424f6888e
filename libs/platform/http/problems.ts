import {
  DomainError,
  RetryLaterError,
  ValidationError,
  type ErrorCode,
  type FieldError,
} from '#kernel/domain-error.js';

/** The description of an error code. */
interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** Why it happens. */
  readonly cause: string;
  /** How the caller can fix it. */
  readonly cure: string;
  /** A typical `detail`. */
  readonly example: string;
}

/** The HTTP status of each error code, and the texts of its page. */
export const PROBLEMS: Readonly<Record<ErrorCode, ProblemKind>> = {
  invalid_json: {
    status: 400,
    title: 'The body is not valid JSON',
    cause: 'The request body could not be parsed as a single JSON value in UTF-8. Nothing was stored.',
    cure: 'Generate the body with a JSON library, encode it as UTF-8 without a byte order mark, and send all of it.',
    example: 'The body must be one JSON object in UTF-8.',
  },
  invalid_content_type: {
    status: 400,
    title: 'The Content-Type is not application/json',
    cause:
      'The Content-Type header is missing, or specifies a media type or charset other than JSON in UTF-8. The body was not read.',
    cure: 'Send the header Content-Type: application/json. The only parameter allowed is charset=utf-8.',
    example: 'Send the body with Content-Type: application/json.',
  },
  validation_failed: {
    status: 400,
    title: 'The request has invalid fields',
    cause: 'A field of the body, a query parameter or a header has an invalid value. Nothing was stored.',
    cure: 'Correct the fields listed in errors: pointer is a JSON Pointer to the field in the body (empty for errors outside the body), and detail states what is allowed.',
    example: 'message must not be empty.',
  },
  batch_exceeds_limit: {
    status: 400,
    title: 'The batch exceeds the rate limit of the plan',
    cause:
      'Each message of a batch counts as one request, and this batch has more messages than the plan allows per minute or per day. It can never be accepted. Nothing was stored.',
    cure: 'Send smaller batches, or move to a plan with higher limits. X-RateLimit-Limit contains the limit.',
    example: 'Your plan allows at most 60 messages per batch. Send smaller batches.',
  },
  malformed_request: {
    status: 400,
    title: 'The request is not valid HTTP',
    cause:
      'The request is not valid HTTP/1.1: for example, it has an unknown method, an invalid header line, two Host headers, or a path with invalid percent-encoding.',
    cure: 'Use an HTTP library, percent-encode each path segment, and check for a proxy that modifies requests.',
    example: 'The path has invalid percent-encoding.',
  },
  unauthorized: {
    status: 401,
    title: 'The API key is missing or invalid',
    cause:
      'The request has no API key, or the key is unknown, malformed, expired or revoked. The response is the same for all of these.',
    cure: 'Send one Authorization: Bearer <API_KEY> header, with one space and nothing after the key. If the key expired or was revoked, use another one.',
    example: 'Send a valid API key: Authorization: Bearer <API_KEY>.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The API key lacks a required scope',
    cause: 'The API key is valid, but does not have the scope that this operation requires.',
    cure: 'Use a key with the scope named in detail. A key with the scope account:manage can create one with POST /api-keys.',
    example: 'Use an API key with the scope messages:send.',
  },
  signup_closed: {
    status: 403,
    title: 'Sign-up is disabled',
    cause: 'The operator of this service has disabled sign-up.',
    cure: 'Ask the operator for an account.',
    example: 'Sign-up is disabled. Ask the operator for an account.',
  },
  account_suspended: {
    status: 403,
    title: 'The account is suspended',
    cause:
      'The operator of this service has suspended the account. Its messages are kept, and those that are queued wait until it is resumed. The request was not processed, but counts against the limits of the account.',
    cure: 'Contact the operator of this service. All keys of the account work again once it is resumed.',
    example: 'The operator of this service has suspended your account. Contact them.',
  },
  not_found: {
    status: 404,
    title: 'The path does not exist',
    cause: 'There is no resource at this path. Paths are case-sensitive and have no trailing slash.',
    cure: 'Compare the path with the documentation at /docs.',
    example: 'There is no resource at this path.',
  },
  message_not_found: {
    status: 404,
    title: 'The message does not exist',
    cause:
      'The account has no message with this id. It may belong to another account, or may have been removed: the operator decides how long messages are kept.',
    cure: 'Check that the id is exactly the one returned when the message was sent, and that the API key belongs to the account that sent it.',
    example: 'The account has no message with this id.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The path does not support this method',
    cause: 'The path exists, but does not support the method of the request.',
    cure: 'Use one of the methods in the Allow header.',
    example: 'This path supports GET, HEAD, POST and OPTIONS.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive',
    cause: 'The headers or the body of the request did not arrive in full within the time limit. Nothing was stored.',
    cure: 'Send the request again on a new connection, without pauses.',
    example: 'The request did not arrive in time. Send it without pauses.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    cause: 'The body exceeds the size limit of the service. Nothing was stored.',
    cure: 'Send a smaller body. Store large data elsewhere, and send its address in the message.',
    example: 'The body must be at most 1048576 bytes.',
  },
  unsupported_encoding: {
    status: 415,
    title: 'The Content-Encoding is not supported',
    cause: 'The body is compressed or has another content encoding.',
    cure: 'Send the body uncompressed, without a Content-Encoding header.',
    example: 'Send the body without a Content-Encoding.',
  },
  headers_too_large: {
    status: 431,
    title: 'The path and headers are too large',
    cause: 'The path and headers of the request exceed 16 KiB in total.',
    cure: 'Remove unnecessary headers, such as cookies, and shorten the query.',
    example: 'The path and headers must be at most 16384 bytes in total.',
  },
  invalid_transition: {
    status: 409,
    title: 'The status of the message does not allow this operation',
    cause:
      'Only queued messages can be cancelled, and only failed messages can be retried. The message has another status, which may have changed a moment ago.',
    cure: 'Get the message and decide by its current status, which is also in detail. Do not repeat the request unchanged.',
    example: 'The message is delivered. This operation requires it to be queued.',
  },
  lease_lost: {
    status: 409,
    title: 'The lease of the message was lost',
    cause:
      'The lease has expired, or the token is not that of a lease of this message. Another consumer may have the message by now. Nothing was changed.',
    cure: 'Lease messages again. If leases expire before the work is done, lease for longer, lease fewer messages at once, or extend the lease.',
    example: 'The lease of this message has expired, or the leaseToken is wrong. Lease messages again.',
  },
  idempotency_key_in_use: {
    status: 409,
    title: 'A request with this Idempotency-Key is in progress',
    cause: 'Another request with the same Idempotency-Key has been in progress for several seconds.',
    cure: 'Wait a few seconds, then repeat the request with the same key to get the response to the first one.',
    example: 'The first request with this key is still in progress. Retry later.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'The Idempotency-Key was used for a different request',
    cause:
      'In the last 24 hours, the account sent a different request with the same Idempotency-Key. Nothing was stored.',
    cure: 'Use a new key for each new request, and reuse a key only to repeat the same request.',
    example: 'The Idempotency-Key was used for a different request. Use a new one.',
  },
  too_many_keys: {
    status: 409,
    title: 'The account has too many API keys',
    cause: 'The account has reached its maximum number of active API keys.',
    cure: 'Revoke unused keys with DELETE /api-keys/{id}. GET /api-keys returns when each was last used (lastUsedAt).',
    example: 'An account can have at most 100 active keys. Revoke one first.',
  },
  account_not_found: {
    status: 404,
    title: 'The account does not exist',
    cause: 'There is no account with this id.',
    cure: 'Use an id from GET /admin/accounts.',
    example: 'There is no account with this id.',
  },
  api_key_not_found: {
    status: 404,
    title: 'The API key does not exist',
    cause:
      'The account has no active key with this id. The id may be unknown or belong to another account, or the key has expired or was revoked.',
    cure: 'Use an id from GET /api-keys. It starts with key_ and is not the secret key.',
    example: 'The account has no active key with this id.',
  },
  ban_not_found: {
    status: 404,
    title: 'The API key is not banned',
    cause: 'There is no active ban of a key with this id. It may have expired.',
    cure: 'Use a keyId from GET /admin/bans.',
    example: 'No key with this id is banned.',
  },
  endpoint_not_found: {
    status: 404,
    title: 'The endpoint does not exist',
    cause: 'The account has no endpoint with this id. It may belong to another account, or may have been deleted.',
    cure: 'Use an id from GET /endpoints.',
    example: 'The account has no endpoint with this id.',
  },
  too_many_endpoints: {
    status: 409,
    title: 'The account has too many endpoints',
    cause: 'The account has reached its maximum number of endpoints, enabled or not.',
    cure: 'Delete endpoints that are no longer used with DELETE /endpoints/{id}.',
    example: 'An account can have at most 50 endpoints. Delete one first.',
  },
  too_many_streams: {
    status: 409,
    title: 'The account has too many event streams',
    cause:
      'The account has its maximum number of streams open, over all of its keys. The stream of a client that has vanished without closing its connection stays open for a while.',
    cure: 'Close streams that are no longer used. Let one stream serve all parts of a program.',
    example: 'An account can have at most 5 open event streams. Close one first.',
  },
  endpoint_disabled: {
    status: 409,
    title: 'The endpoint is disabled',
    cause: 'Nothing is posted to an endpoint while it is disabled.',
    cure: 'Enable it with PATCH /endpoints/{id}, then repeat the request.',
    example: 'The endpoint is disabled. Enable it first.',
  },
  webhooks_disabled: {
    status: 403,
    title: 'Webhooks are disabled',
    cause: 'The operator of this service has not enabled webhooks.',
    cure: 'Consume messages in another way, or ask the operator to set SECRETS_KEY.',
    example: 'Webhooks are disabled on this service. Ask the operator to set SECRETS_KEY.',
  },
  rate_limit_exceeded: {
    status: 429,
    title: 'The rate limit was exceeded',
    cause:
      'The account has used all requests of its plan for this minute or day. Requests without a valid API key count against a limit of their IP address, and sign-ups against an hourly one. The request was not processed.',
    cure: 'Wait for the number of seconds in Retry-After, then repeat the request. Watch X-RateLimit-Remaining and slow down before it reaches 0. A key that keeps sending is banned temporarily. Plans with higher limits are available.',
    example: 'The requests of your plan are used up. Retry after 42 s.',
  },
  api_key_banned: {
    status: 429,
    title: 'The API key is temporarily banned',
    cause: 'After the rate limit was exceeded, too many further requests were sent with this key.',
    cure: 'Stop sending requests with this key for the number of seconds in Retry-After, and make your client respect Retry-After. Programs that share a key share its ban: give each one its own. Each further ban within 24 hours lasts twice as long.',
    example: 'This key is banned because it kept sending after 429 responses. Send nothing with it for 60 s.',
  },
  internal_error: {
    status: 500,
    title: 'An internal error occurred',
    cause: 'An unexpected error occurred and was logged. The outcome of the request is unknown.',
    cure: 'Repeat the request, with the same Idempotency-Key if it sends messages. If the error persists, report the requestId.',
    example: 'An internal error occurred and was logged. Report the requestId if it persists.',
  },
  unavailable: {
    status: 503,
    title: 'The service is temporarily unavailable',
    cause:
      'The service is overloaded or has no space left, or something it depends on cannot be reached or did not respond in time. The outcome of the request is unknown.',
    cure: 'Retry after the number of seconds in Retry-After, with exponential backoff. Send messages with an Idempotency-Key, so that a retry cannot create duplicates.',
    example: 'The service cannot reach its database. Retry later.',
  },
  storage_full: {
    status: 507,
    title: 'The account has reached its storage limit',
    cause:
      'The messages of the account, with their attempts, use all the storage that the operator of this service allows. Nothing was stored. For any other 5xx the outcome is unknown.',
    cure: 'Do not retry: requests are rejected until older messages have been removed. GET /account/usage returns the storage used and its limit. Ask the operator when messages are removed, or for a higher limit.',
    example: 'The account has reached its limit of 10240 MiB. Older messages must be removed first.',
  },
};

/** Seconds to wait before a retry when no better estimate exists. */
export const UNAVAILABLE_RETRY_AFTER = 1;

/** A problem document (RFC 9457). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly requestId: string;
  readonly errors?: readonly FieldError[];
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export function toProblem(error: DomainError, requestId: string): Problem {
  const { status, title } = PROBLEMS[error.code];
  const problem = { type: `/errors/${error.code}`, title, status, detail: error.message, code: error.code, requestId };
  if (error instanceof ValidationError) return { ...problem, errors: error.errors };
  return status === 400 ? { ...problem, errors: [{ pointer: '', detail: error.message }] } : problem;
}

/** Additional headers of an error response. @param authorization the header of the request */
export function problemHeaders(error: DomainError, authorization: string | undefined): Record<string, string> {
  if (error instanceof RetryLaterError) return { 'retry-after': String(error.retryAfter) };
  if (error.code === 'unavailable') return { 'retry-after': String(UNAVAILABLE_RETRY_AFTER) };
  if (error.code !== 'unauthorized') return {};
  // RFC 6750, 3.1: `error` is present only if the request contained a token.
  const invalid = /^bearer\s+\S/i.test(authorization ?? '') ? ', error="invalid_token"' : '';
  return { 'www-authenticate': `Bearer realm="sluice"${invalid}` };
}

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(PROBLEMS, text);
}

/** A typical problem document with this code. */
export function exampleProblem(code: ErrorCode, detail = PROBLEMS[code].example): Problem {
  const error =
    code === 'validation_failed'
      ? new ValidationError([{ pointer: '/message', detail }])
      : new DomainError(code, detail);
  return toProblem(error, '273a6947-5a3c-42e0-814d-47b3cc9e0321');
}
