import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { DomainError } from '#kernel/domain-error.js';
import type { Caller } from './caller.js';
import { noteExchange, type Exchange } from './connections.js';
import type { RateLimitWindow } from './rate-limit-headers.js';
import { leavesBodyUnread, rawProblem } from './raw-answer.js';
import { requestId } from './request-id.js';
import { Turns } from './turns.js';

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
  const turns = new Turns();
  const listeners = server.listeners('request') as Listener[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const refusal = gate.refusal(request);
    if (refusal === null) {
      for (const listener of listeners) listener.call(server, request, response);
      return;
    }
    const exchange = new RefusedExchange(request, response, refusal);
    noteExchange(exchange);
    turns.do(() => {
      // Whoever has gone, or has sent what can't be read meanwhile, is not told any more.
      if (request.socket.writable) refused(request, refusal, exchange.answer(server.listening));
    });
  });
}

class RefusedExchange implements Exchange {
  isLast = false;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    private readonly refusal: Refusal,
  ) {}

  get windows(): readonly RateLimitWindow[] {
    return this.refusal.windows;
  }

  /** @returns the id of the request */
  answer(keepsAlive: boolean): string {
    const { headers } = this.request;
    const id = requestId(headers['x-request-id']);
    // Whoever waits for `100 Continue` may send a body or not; what remains of another one is swallowed by Node.
    this.isLast = leavesBodyUnread(this.request) || headers.expect !== undefined || !keepsAlive;
    const { authorization } = headers;
    const { status, headers: own, body } = rawProblem(this.refusal.error, this.windows, id, this.isLast, authorization);
    this.response.writeHead(status, own);
    this.response.end(body);
    return id;
  }
}
