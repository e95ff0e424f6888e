import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { DomainError } from '#kernel/domain-error.js';
import type { Caller } from './caller.js';
import { noteExchange } from './connections.js';
import type { RateLimitWindow } from './rate-limit-headers.js';
import { leavesBodyUnread, rawProblem } from './raw-answer.js';
import { requestId } from './request-id.js';

/** Why a request is refused before anything has looked at it further. */
export interface Refusal {
  readonly error: DomainError;
  /** The windows that it is told of. */
  readonly windows: readonly RateLimitWindow[];
  readonly caller?: Pick<Caller, 'accountId' | 'keyId'>;
}

/** @returns null for a request that may go on */
export type Check = (request: IncomingMessage) => Refusal | null;

/**
 * Where requests are refused that need no further look, before Fastify and NestJS see them: what a refusal costs is
 * missing for those that are served. What a check refuses, the way behind it would have refused in the same words.
 */
export class Gate {
  private readonly checks: Check[] = [];

  /** Asked after those that were added before. */
  add(check: Check): void {
    this.checks.push(check);
  }

  refusal(request: IncomingMessage): Refusal | null {
    for (const check of this.checks) {
      const refusal = check(request);
      if (refusal !== null) return refusal;
    }
    return null;
  }
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Has every request of a server pass the gate first.
 * @param refused is told of each request that was refused there, with its id
 */
export function keepGate(
  server: Server,
  gate: Gate,
  refused: (request: IncomingMessage, refusal: Refusal, requestId: string) => void,
): void {
  const listeners = server.listeners('request') as Listener[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const refusal = gate.refusal(request);
    if (refusal === null) {
      for (const listener of listeners) listener.call(server, request, response);
      return;
    }
    const id = requestId(request.headers['x-request-id']);
    const { status, headers, body } = rawProblem(refusal.error, refusal.windows, id, request.headers.authorization);
    // Whoever waits for `100 Continue` may send a body or not; what remains of another one is swallowed by Node.
    const closes = leavesBodyUnread(request) || request.headers.expect !== undefined || !server.listening;
    noteExchange({
      request: { raw: request, rateLimit: refusal.windows },
      reply: { raw: response, sent: true, getHeader: () => (closes ? 'close' : undefined) },
    });
    response.writeHead(status, closes ? { ...headers, Connection: 'close' } : headers);
    response.end(body);
    refused(request, refusal, id);
  });
}
