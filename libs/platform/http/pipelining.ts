import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { AddressBudget } from './address-budget.js';

/** The maximum number of requests of a connection that wait for their responses. */
const MAX_UNANSWERED = 32;
/** The same for all connections of an address, without the first request of each. */
const MAX_PIPELINED = 500;
/** The same of all addresses together. */
const MAX_PIPELINED_BY_ALL = 2_000;

/** The requests of each open connection that wait for their responses. */
const unanswered = new Map<Socket, number>();
const pipelined = new AddressBudget('pipelined', MAX_PIPELINED, 1);
let pipelinedByAll = 0;

/**
 * A response whose connection is closed when too many requests are pipelined: each holds memory while it waits, and the
 * time that Node takes for a lost connection grows with the square of their number.
 */
export class CountedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  constructor(...args: [Request]) {
    super(...args);
    const { socket } = this.req;
    const count = unanswered.get(socket);
    if (count === undefined) socket.once('close', forget);
    unanswered.set(socket, (count ?? 0) + 1);
    this.once('close', answered);
    if (!count) return;
    pipelinedByAll++;
    const isTooMuch = count >= MAX_UNANSWERED || pipelinedByAll > MAX_PIPELINED_BY_ALL;
    if (isTooMuch || !pipelined.take(socket.remoteAddress ?? '').passes) discard(socket);
  }
}

function answered(this: ServerResponse): void {
  const { socket } = this.req;
  // Requests of a closed connection are not given back here: they count until the budget's second is over.
  if (socket.destroyed) return;
  const count = unanswered.get(socket) ?? 0;
  unanswered.set(socket, count - 1);
  if (count <= 1) return;
  pipelinedByAll--;
  pipelined.giveBack(socket.remoteAddress ?? '');
}

function forget(this: Socket): void {
  pipelinedByAll -= Math.max(0, (unanswered.get(this) ?? 0) - 1);
  unanswered.delete(this);
}

/** Closes a connection without reading what it has sent. */
function discard(socket: Socket & { parser?: { onIncoming: () => number } }): void {
  socket.destroy();
  // Node would go on to create all requests in the piece that has arrived. Its parser stops at 2, as for an upgrade.
  if (socket.parser) socket.parser.onIncoming = () => 2;
}
