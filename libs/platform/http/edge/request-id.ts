import { randomUUID } from 'node:crypto';

/**
 * The caller's own `X-Request-Id` if it is safe to log, else a new one. An id that contains an API key is replaced,
 * because ids are logged and shown.
 */
export function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^(?!.*slc_)[A-Za-z0-9._-]{1,128}$/i.test(header) ? header : randomUUID();
}
