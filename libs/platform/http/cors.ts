import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const METHODS = 'GET, HEAD, POST, PATCH, DELETE';
const REQUEST_HEADERS = 'Authorization, Content-Type, Idempotency-Key, X-Request-Id, traceparent';
const ANSWER_HEADERS = [
  ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit-Policy', 'RateLimit'],
  ...['Retry-After', 'X-Request-Id', 'Location', 'Idempotent-Replayed', 'WWW-Authenticate', 'Allow'],
].join(', ');
/** Seconds for which a browser may remember what a preflight allowed. None remembers it for longer. */
const MAX_AGE = '7200';

/**
 * Lets scripts of these origins call the API from a browser (CORS). Credentials are not allowed: there are no cookies,
 * a script sends its API key itself. What a preflight asks for is answered like any OPTIONS, and counted like it.
 */
export function allowOrigins(server: Server, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const allowed = new Set(origins);
  // Not a hook of Fastify: answers to paths that it can't decode pass none.
  server.prependListener('request', ({ method, headers }: IncomingMessage, response: ServerResponse) => {
    response.setHeader('Vary', 'Origin');
    if (headers.origin === undefined || !allowed.has(headers.origin)) return;
    response.setHeader('Access-Control-Allow-Origin', headers.origin);
    response.setHeader('Access-Control-Expose-Headers', ANSWER_HEADERS);
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return;
    response.setHeader('Access-Control-Allow-Methods', METHODS);
    response.setHeader('Access-Control-Allow-Headers', REQUEST_HEADERS);
    response.setHeader('Access-Control-Max-Age', MAX_AGE);
  });
}
