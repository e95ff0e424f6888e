import type { DomainError } from '#kernel/domain-error.js';
import { PROBLEM_TYPE, problemHeaders, toProblem } from '../problems.js';
import type { RateLimitWindow } from '#kernel/rate-limit-window.js';
import { rateLimitHeaders } from '../access/rate-limit-headers.js';

export interface RawProblem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * A problem document that is sent without Fastify: byte for byte as Fastify would send it, so that the order or
 * spelling of a header does not reveal where a request was refused.
 * @param closes whether it is the last response of its connection
 * @param authorization the header of the request
 */
export function rawProblem(
  error: DomainError,
  windows: readonly RateLimitWindow[],
  id: string,
  closes: boolean,
  authorization?: string,
): RawProblem {
  const problem = toProblem(error, id);
  const body = JSON.stringify(problem);
  return {
    status: problem.status,
    headers: {
      'X-Request-Id': id,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...Object.fromEntries(rateLimitHeaders(windows)),
      ...problemHeaders(error, authorization),
      'content-type': PROBLEM_TYPE,
      ...(closes ? { connection: 'close' } : {}),
      'content-length': String(Buffer.byteLength(body)),
    },
    body,
  };
}
