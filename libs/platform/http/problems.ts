import {
  DomainError,
  RetryLaterError,
  ValidationError,
  type ErrorCode,
  type FieldError,
} from '#kernel/domain-error.js';

/** All that is told of an error, besides the `detail` of the moment. */
export interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** What happened, for its page. */
  readonly cause: string;
  /** What the caller can do about it. */
  readonly cure: string;
  /** A `detail` as it may be met. */
  readonly example: string;
}

/** How each error is told over HTTP: the one place where codes meet statuses, and the text of their pages. */
export const PROBLEMS: Readonly<Record<ErrorCode, ProblemKind>> = {
  invalid_json: {
    status: 400,
    title: 'The body is not valid JSON',
    cause: 'The body of the request could not be read as one JSON text in valid UTF-8. Nothing was stored.',
    cure: 'Make the body with a JSON library instead of by hand, encode it as UTF-8 without a byte order mark, and send all of it.',
    example: 'The body must be one JSON object in UTF-8.',
  },
  invalid_content_type: {
    status: 400,
    title: 'The Content-Type is not application/json',
    cause:
      'The header Content-Type is missing, or names another type or charset than JSON in UTF-8. The body was not read.',
    cure: 'Send the header Content-Type: application/json. The parameter charset=utf-8 may be added, no other.',
    example: 'Send the body with Content-Type: application/json.',
  },
  validation_failed: {
    status: 400,
    title: 'The request has invalid fields',
    cause:
      'A field of the body, a parameter of the query or a header has a value that is not allowed. Nothing was stored.',
    cure: 'Correct what the list errors names: pointer is the place in the body (a JSON Pointer; empty for what is not in the body), detail says what is allowed there.',
    example: 'message must not be empty.',
  },
  batch_exceeds_limit: {
    status: 400,
    title: 'The batch is larger than the plan allows',
    cause:
      'A batch counts one request for each of its messages, and this one has more of them than the plan admits in a minute or in a day. It could never pass, and nothing was stored.',
    cure: 'Send the messages in smaller batches, or move to a plan with higher limits. X-RateLimit-Limit tells the limit.',
    example: 'Your plan admits 60 messages at once. Send smaller batches.',
  },
  malformed_request: {
    status: 400,
    title: 'The request is not valid HTTP',
    cause:
      'What arrived is not a request in HTTP/1.1: for example an unknown method, a header line that cannot be read, two Host headers, or a path with a broken percent-encoding.',
    cure: 'Use an HTTP library, percent-encode each part of the path, and look for a proxy that changes requests on their way.',
    example: 'The path is not validly percent-encoded.',
  },
  unauthorized: {
    status: 401,
    title: 'The API key is missing or invalid',
    cause:
      'The request has no API key, or one that is unknown, malformed, expired or revoked. All of these get the same answer.',
    cure: 'Send the header Authorization: Bearer <API_KEY> once, with one space and nothing after the key. If the key was revoked or has expired, use another one, or sign up with POST /accounts.',
    example: 'Send a valid API key: Authorization: Bearer <API_KEY>.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The API key lacks a scope',
    cause: 'The API key is valid, but it was issued without the scope that this request needs.',
    cure: 'Use a key that has the scope which detail names. A key with account:manage can make one with POST /api-keys.',
    example: 'Use an API key with the scope messages:send.',
  },
  signup_closed: {
    status: 403,
    title: 'Sign-up is closed',
    cause: 'The operator of this service has switched signing up off.',
    cure: 'Ask the operator for an account.',
    example: 'Ask the operator of this service for an account.',
  },
  not_found: {
    status: 404,
    title: 'There is nothing here',
    cause: 'No resource has this path. Paths are case-sensitive and have no slash at their end.',
    cure: 'Compare the path with those in the documentation at /docs.',
    example: 'No resource has this path.',
  },
  message_not_found: {
    status: 404,
    title: 'There is no such message',
    cause: 'Your account has no message with this id. A message of another account is answered in the same way.',
    cure: 'Use the id as it was returned, and a key of the account that sent the message.',
    example: 'The account has no message with this id.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The path does not support this method',
    cause: 'The path exists, but not with the method of the request.',
    cure: 'Use one of the methods in the header Allow.',
    example: 'This path supports GET, HEAD, POST and OPTIONS.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    cause:
      'The headers or the body of the request had not arrived in full when the time for them was over. Nothing was stored.',
    cure: 'Send the request again on a new connection, and send it without pauses.',
    example: 'Send the whole request without delay.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    cause: 'The body has more bytes than the service takes. It was not read to its end, and nothing was stored.',
    cure: 'Send a smaller body. Large data is better kept elsewhere, with its address in the message.',
    example: 'The body must be at most 1048576 bytes.',
  },
  unsupported_encoding: {
    status: 415,
    title: 'The Content-Encoding is not supported',
    cause: 'The body is compressed, or otherwise encoded.',
    cure: 'Send the body as it is, without the header Content-Encoding.',
    example: 'Send the body without a Content-Encoding.',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers or the path are too large',
    cause: 'The path and the headers of the request have more than 16 KiB together.',
    cure: 'Leave out headers that are not needed, such as cookies, and shorten the query.',
    example: 'Headers and path together must be at most 16384 bytes.',
  },
  invalid_transition: {
    status: 409,
    title: 'The status of the message does not allow this',
    cause:
      'A message can be cancelled only while it is queued, and retried only when it has failed. It has another status by now, perhaps since a moment ago.',
    cure: 'Read the message again and decide by its status, which detail names as well. There is no use in repeating the request as it is.',
    example: 'The message is delivered; only a message that is queued allows this.',
  },
  idempotency_key_in_use: {
    status: 409,
    title: 'A request with this Idempotency-Key is under way',
    cause: 'Another request with the same Idempotency-Key has not been answered for several seconds.',
    cure: 'Wait a few seconds and send the same request with the same key again. It will get the answer of the first one.',
    example: 'The first request with this key is still under way. Repeat it.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'The Idempotency-Key was used for another request',
    cause: 'Within the last 24 hours your account sent another body with the same Idempotency-Key. Nothing was stored.',
    cure: 'Use a new key for each new message, and the same key only to repeat the very same request.',
    example: 'Use a new Idempotency-Key for another request.',
  },
  too_many_keys: {
    status: 409,
    title: 'The account has too many API keys',
    cause: 'The account has as many live API keys as it may have.',
    cure: 'Revoke keys that are no longer used with DELETE /api-keys/{id}; lastUsedAt in their list tells which those are.',
    example: 'An account has at most 100 live keys. Revoke one first.',
  },
  account_not_found: {
    status: 404,
    title: 'There is no such account',
    cause: 'No account has this id.',
    cure: 'Use an id from GET /admin/accounts.',
    example: 'There is no account with this id.',
  },
  api_key_not_found: {
    status: 404,
    title: 'There is no such API key',
    cause: 'Your account has no live key with this id: it is unknown, of another account, expired or revoked already.',
    cure: 'Use an id from GET /api-keys. It begins with key_ and is not the key itself.',
    example: 'The account has no live key with this id.',
  },
  ban_not_found: {
    status: 404,
    title: 'The API key is not banned',
    cause: 'No ban of a key with this id is in force. It may have ended by itself.',
    cure: 'Use a keyId from GET /admin/bans.',
    example: 'No key with this id is banned.',
  },
  rate_limit_exceeded: {
    status: 429,
    title: 'The rate limit is exceeded',
    cause:
      'The requests that your plan includes in a minute or in a day are used up. Without a valid API key it is those of your IP address, and for sign-ups those of an hour. The request was not carried out.',
    cure: 'Wait as many seconds as the header Retry-After says, then repeat. Watch X-RateLimit-Remaining and slow down before it is 0. A key that goes on regardless is banned for a while; a higher plan has higher limits.',
    example: 'The requests of your plan are used up. Repeat after 42 s.',
  },
  api_key_banned: {
    status: 429,
    title: 'The API key is banned for a while',
    cause: 'After the limit was exceeded, too many more requests were made with this key instead of waiting.',
    cure: 'Stop all requests with this key for as many seconds as Retry-After says, and make your client honour Retry-After from then on: each further ban within a day lasts twice as long.',
    example: 'This key went on after its limit was exceeded. Stop, wait 60 s, and honour Retry-After.',
  },
  internal_error: {
    status: 500,
    title: 'Something went wrong on our side',
    cause:
      'The service met a fault that nobody foresaw, and has logged it. It is unknown whether the request was carried out.',
    cure: 'Repeat the request, with the same Idempotency-Key if it sends a message. If it stays, report the requestId.',
    example: 'The fault is ours and was logged. Quote the requestId if it stays.',
  },
  unavailable: {
    status: 503,
    title: 'The service is temporarily unavailable',
    cause:
      'Something that the service depends on cannot be reached, or did not answer in time. It is unknown whether the request was carried out.',
    cure: 'Repeat after the seconds in Retry-After, with pauses that grow. Send messages with an Idempotency-Key: then a repetition cannot create a second one.',
    example: 'The service cannot reach its store. Repeat the request later.',
  },
  storage_full: {
    status: 507,
    title: 'The account has stored as much as it may',
    cause:
      'The messages of your account take up all the room that the operator of this service allows an account. Nothing of this request was stored: this is the one 5xx after which that is certain.',
    cure: 'Do not repeat it: it is refused until older messages have been removed. GET /account/usage tells how much is stored and how much may be. Ask the operator when messages are removed, or for more room.',
    example: 'The account stores 10240 MiB, which is all it may. Older messages must be removed first.',
  },
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
  readonly errors?: readonly FieldError[];
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export function toProblem(error: DomainError, requestId: string): Problem {
  const { status, title } = PROBLEMS[error.code];
  const problem = { type: `/errors/${error.code}`, title, status, detail: error.message, code: error.code, requestId };
  if (error instanceof ValidationError) return { ...problem, errors: error.errors };
  return status === 400 ? { ...problem, errors: [{ pointer: '', detail: error.message }] } : problem;
}

/** The header fields that an error has besides its document. @param authorization the header of the request */
export function problemHeaders(error: DomainError, authorization: string | undefined): Record<string, string> {
  if (error instanceof RetryLaterError) return { 'retry-after': String(error.retryAfter) };
  if (error.code === 'unavailable') return { 'retry-after': String(UNAVAILABLE_RETRY_AFTER) };
  if (error.code !== 'unauthorized') return {};
  // RFC 6750, 3.1: an error is named only where a token was presented.
  const invalid = /^bearer\s+\S/i.test(authorization ?? '') ? ', error="invalid_token"' : '';
  return { 'www-authenticate': `Bearer realm="sluice"${invalid}` };
}

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(PROBLEMS, text);
}

/** A problem document of this code as it may be met. */
export function exampleProblem(code: ErrorCode, detail = PROBLEMS[code].example): Problem {
  const error =
    code === 'validation_failed'
      ? new ValidationError([{ pointer: '/message', detail }])
      : new DomainError(code, detail);
  return toProblem(error, '273a6947-5a3c-42e0-814d-47b3cc9e0321');
}
