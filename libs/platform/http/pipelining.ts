import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { AddressBudget } from './address-budget.js';

/** The maximum number of requests of a connection that wait for their responses. */
const MAX_UNANSWERED = 32;
/** The same for all connections of an address, without the first request of each. */
const MAX_PIPELINED = 500;

const unanswered = new WeakMap<Socket, number>();
const pipelined = new AddressBudget('pipelined', MAX_PIPELINED, 1);

/**
 * A response whose connection is closed when too many requests are pipelined: each holds memory while it waits, and the
 * time that Node takes for a lost connection grows with the square of their number.
 */
export class CountedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  constructor(...args: [Request]) {
    super(...args);
    const { socket } = this.req;
    const count = unanswered.get(socket) ?? 0;
    unanswered.set(socket, count + 1);
    this.once('close', answered);
    if (count > 0 && (count >= MAX_UNANSWERED || !pipelined.take(socket.remoteAddress ?? '').passes)) discard(socket);
  }
}

function answered(this: ServerResponse): void {
  const { socket } = this.req;
  const count = unanswered.get(socket) ?? 0;
  unanswered.set(socket, count - 1);
  // Requests of a closed connection are not given back: they count until the budget's second is over.
  if (count > 1 && !socket.destroyed) pipelined.giveBack(socket.remoteAddress ?? '');
}

/** Closes a connection without reading what it has sent. */
function discard(socket: Socket & { parser?: { onIncoming: () => number } }): void {
  socket.destroy();
  // Node would go on to create all requests in the piece that has arrived. Its parser stops at 2, as for an upgrade.
  if (socket.parser) socket.parser.onIncoming = () => 2;
}
