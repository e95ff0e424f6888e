import { randomUUID } from 'node:crypto';

/** The caller's own `X-Request-Id` if it can be told apart from an attack on a log, else a new one. */
export function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(header) ? header : randomUUID();
}
