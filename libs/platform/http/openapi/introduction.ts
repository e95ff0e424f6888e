/** The description of the API at the top of the document, in Markdown. */
export const INTRODUCTION = `
Sluice is the front door of a message queue: it accepts messages over HTTP, stores them durably, and delivers them to
workers.

## Authentication

Send \`Authorization: Bearer <API_KEY>\` with every request to an operation that is not public. \`POST /accounts\` creates an
account and its first API key, if the operator of the service has opened sign-up. Each key has scopes; every operation states the scope that it requires.

## Rate limits

All keys of an account share its limits per minute and per day. Every response reports the current state: \`X-RateLimit-*\`
for the window that is closer to its limit, \`RateLimit-Policy\` and \`RateLimit\` for both. A request over the limit gets
status 429 with \`Retry-After\`: wait that long, and use exponential backoff. A key that ignores this is banned temporarily.
Requests without a valid key count against their IP address.

## Errors

Errors are problem documents (RFC 9457). \`code\` is stable, and \`type\` links to a page that explains it; [/errors](/errors)
lists all codes. **After a 4xx or 507, nothing was stored. After any other 5xx or a broken connection, the outcome is
unknown**: repeat the request with the same \`Idempotency-Key\`.

## All paths

\`HEAD\` is supported wherever \`GET\` is. \`OPTIONS\` returns 204 with \`Allow\`; any other unsupported method returns 405 with
\`Allow\`, and an unknown path 404. Every request may have an \`X-Request-Id\`, which the response repeats. Requests that are
not valid HTTP get 400 \`malformed_request\`, requests that take too long to arrive 408, and requests whose path and headers
exceed 16 KiB 431.
`.trim();
