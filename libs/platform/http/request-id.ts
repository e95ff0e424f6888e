import { randomUUID } from 'node:crypto';

/**
 * The caller's own `X-Request-Id` if it can be told apart from an attack on a log, else a new one. What looks like an
 * API key that was put into the wrong header is none: ids are logged, and told to everybody.
 */
export function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^(?!.*slc_)[A-Za-z0-9._-]{1,128}$/i.test(header) ? header : randomUUID();
}
