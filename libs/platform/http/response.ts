import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DomainError } from '#kernel/domain-error.js';
import type { Caller } from '#kernel/caller.js';
import { leavesBodyUnread, lingerAfter } from './edge/connections.js';
import { PROBLEM_TYPE, problemHeaders, toProblem } from './problems.js';
import type { RateLimitWindow } from '#kernel/rate-limit-window.js';
import { rateLimitHeaders } from './access/rate-limit-headers.js';
import { rawProblem } from './edge/raw-problem.js';

/** Why a request is refused before it reaches NestJS. */
export interface Refusal {
  readonly error: DomainError;
  /** The windows that its response shows. */
  readonly windows: readonly RateLimitWindow[];
  readonly caller?: Pick<Caller, 'accountId' | 'keyId'>;
}

/** Responds to a refused request at the least cost. The reply must be hijacked: no further hook of Fastify runs for it. */
export function sendRefusal(request: FastifyRequest, reply: FastifyReply, { error, windows }: Refusal): void {
  const { raw, headers, server } = request;
  const isUnread = leavesBodyUnread(raw);
  // A client that expects `100 Continue` may or may not send its body after a refusal: the next bytes are ambiguous.
  const closes = isUnread || headers.expect !== undefined || !server.server.listening;
  if (closes) void reply.header('connection', 'close');
  if (isUnread) lingerAfter(raw);
  const problem = rawProblem(error, windows, request.id, closes, headers.authorization);
  reply.raw.writeHead(problem.status, problem.headers);
  reply.raw.end(problem.body);
}

/**
 * Replaces a response by a problem document, in an `onSend` hook.
 * @returns the new payload
 */
export function replaceResponse(request: FastifyRequest, reply: FastifyReply, error: DomainError): string {
  const problem = toProblem(error, request.id);
  const body = JSON.stringify(problem);
  for (const name of ['location', 'idempotent-replayed', 'content-encoding']) void reply.removeHeader(name);
  void reply
    .code(problem.status)
    .headers(problemHeaders(error, request.headers.authorization))
    .header('cache-control', 'no-store')
    .header('content-type', PROBLEM_TYPE)
    .header('content-length', Buffer.byteLength(body));
  return body;
}

// Set on the raw response, because Fastify would send the names in lower case.
export function setStandardHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.raw.setHeader('X-Request-Id', request.id);
  reply.raw.setHeader('Cache-Control', 'no-store');
  reply.raw.setHeader('X-Content-Type-Options', 'nosniff');
}

export function setRateLimitHeaders(reply: FastifyReply, windows: readonly RateLimitWindow[]): void {
  for (const [name, value] of rateLimitHeaders(windows)) reply.raw.setHeader(name, value);
}
