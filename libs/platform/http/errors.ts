/** The description of an error code. */
export interface ErrorKind {
  /** The HTTP status. */
  readonly status: number;
  readonly title: string;
  /** Why it happens. */
  readonly cause: string;
  /** How the caller can fix it. */
  readonly cure: string;
  /** A typical `detail`. */
  readonly example: string;
}

/** By code. */
export type ErrorTable = Readonly<Record<string, ErrorKind>>;

/** The errors of requests to any route. Each context describes its own in `libs/<context>/errors.ts`. */
export const HTTP_ERRORS = {
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
  malformed_request: {
    status: 400,
    title: 'The request is not valid HTTP',
    cause:
      'The request is not valid HTTP/1.1: for example, it has an unknown method, an invalid header line, two Host headers, or a path with invalid percent-encoding.',
    cure: 'Use an HTTP library, percent-encode each path segment, and check for a proxy that modifies requests.',
    example: 'The path has invalid percent-encoding.',
  },
  not_found: {
    status: 404,
    title: 'The path does not exist',
    cause: 'There is no resource at this path. Paths are case-sensitive and have no trailing slash.',
    cure: 'Compare the path with the documentation at /docs.',
    example: 'There is no resource at this path.',
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
  rate_limit_exceeded: {
    status: 429,
    title: 'The rate limit was exceeded',
    cause:
      'The account has used all requests of its plan for this minute or day, or fewer remain than a batch has messages. Requests without a valid API key count against a limit of their IP address, and sign-ups against an hourly one. The request was not processed.',
    cure: 'Wait for the number of seconds in Retry-After, then repeat the request. Watch X-RateLimit-Remaining and slow down before it reaches 0. A key that keeps sending is banned temporarily. Plans with higher limits are available.',
    example: 'The requests of your plan are used up. Retry after 42 s.',
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
} satisfies ErrorTable;
