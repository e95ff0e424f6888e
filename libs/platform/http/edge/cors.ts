import type { IncomingMessage, ServerResponse } from 'node:http';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS = [
  ...['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match', 'Last-Event-ID'],
  // Tracers send all three, or none.
  ...['X-Request-Id', 'traceparent', 'tracestate', 'baggage'],
].join(', ');
const RESPONSE_HEADERS = [
  ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit-Policy', 'RateLimit'],
  ...['Retry-After', 'X-Request-Id', 'Location', 'Link', 'ETag', 'Idempotent-Replayed', 'WWW-Authenticate', 'Allow'],
  'Date',
].join(', ');
/** Seconds for which a browser may cache a preflight response. No browser caches it for longer. */
const MAX_AGE = '7200';

/** Sets the CORS headers of one response. */
export type CorsHeaders = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Lets scripts of these origins call the API from a browser (CORS). Credentials are not allowed: there are no cookies,
 * a script sends its API key. A preflight request is handled and counted like any OPTIONS request.
 */
export function corsHeaders(origins: readonly string[]): CorsHeaders {
  if (origins.length === 0) return () => undefined;
  const allowed = new Set(origins);
  return ({ method, headers }, response) => {
    response.setHeader('Vary', 'Origin');
    if (headers.origin === undefined || !allowed.has(headers.origin)) return;
    response.setHeader('Access-Control-Allow-Origin', headers.origin);
    response.setHeader('Access-Control-Expose-Headers', RESPONSE_HEADERS);
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return;
    response.setHeader('Access-Control-Allow-Methods', METHODS);
    response.setHeader('Access-Control-Allow-Headers', REQUEST_HEADERS);
    response.setHeader('Access-Control-Max-Age', MAX_AGE);
  };
}
