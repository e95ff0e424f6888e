import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { DomainError } from '#kernel/domain-error.js';
import type { AddressBudget } from './address-budget.js';
import { UNAVAILABLE_RETRY_AFTER } from './problems.js';
import { exhausted } from './rate-limit-headers.js';
import { leavesBodyUnread, rawProblem } from './raw-answer.js';
import { requestId } from './request-id.js';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

export interface OverloadOptions {
  readonly strangers: AddressBudget;
  /** Whether there is more to do than can be done in time. */
  readonly isOverloaded: () => boolean;
  /** Is told of each request that was refused for that. */
  readonly refusedForLoad: () => void;
}

const OVERLOADED = new DomainError('unavailable', 'There is more to do than can be done in time. Repeat later.');

/**
 * Answers 503 while there is more to do than can be done in time. Before everything else, and without a look at who
 * asks: what a refusal costs is missing for those that are served.
 */
export function refuseUnderLoad(server: Server, { strangers, isOverloaded, refusedForLoad }: OverloadOptions): void {
  const listeners = server.listeners('request') as Listener[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!isOverloaded()) {
      for (const listener of listeners) listener.call(server, request, response);
      return;
    }
    refusedForLoad();
    const told = exhausted([strangers.peek(request.socket.remoteAddress ?? '')], UNAVAILABLE_RETRY_AFTER);
    const { status, headers, body } = rawProblem(OVERLOADED, told, requestId(request.headers['x-request-id']));
    // Whoever waits for `100 Continue` may send a body or not; what remains of another one is swallowed by Node.
    const closes = leavesBodyUnread(request) || request.headers.expect !== undefined;
    const own = { 'Retry-After': UNAVAILABLE_RETRY_AFTER, ...(closes ? { Connection: 'close' } : {}) };
    response.writeHead(status, { ...headers, ...own });
    response.end(body);
  });
}
