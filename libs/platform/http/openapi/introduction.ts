/** What holds for all routes, as the document begins. Markdown. */
export const INTRODUCTION = `
Sluice is the front door of a message queue: it takes messages in, stores them so that they cannot be lost, and hands
them to workers.

## Authentication

Send \`Authorization: Bearer <API_KEY>\` with every request that is not marked as public. \`POST /accounts\` opens an account
and issues its first key. Each key has scopes; what an operation needs is told with it.

## Limits

All keys of an account share its requests per minute and per day. Every answer tells where they stand: \`X-RateLimit-*\`
for the window that is closer to its limit, \`RateLimit-Policy\` and \`RateLimit\` for both. Over the limit, the answer is 429
with \`Retry-After\`: wait that long, and longer each time. A key that goes on regardless is banned for a while. Requests
without a valid key count against their IP address.

## Errors

Errors are problem documents (RFC 9457). \`code\` is stable, \`type\` leads to a page that explains it; [/errors](/errors)
lists all. **4xx and 507: nothing was stored. Any other 5xx or a broken connection: the outcome is unknown**, so repeat the
request with the same \`Idempotency-Key\`.

## Every path

\`HEAD\` works wherever \`GET\` does. \`OPTIONS\` is answered 204 with \`Allow\`, any other method that a path does not have
405 with \`Allow\`, a path that does not exist 404. Every request may carry \`X-Request-Id\`, which is returned. What can't be
read as HTTP is 400 \`malformed_request\`, what does not arrive in time 408, a path and headers of more than 16 KiB 431.
`.trim();
