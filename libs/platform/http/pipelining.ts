import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { AddressBudget, networkOf } from './address-budget.js';

/** The maximum number of requests of a connection that wait for their responses. */
const MAX_UNANSWERED = 32;
/** The same for all connections of an address, without the first request of each. */
const MAX_PIPELINED = 500;
/** The same of all addresses together. */
const MAX_PIPELINED_BY_ALL = 2_000;

interface Connection {
  readonly address: string;
  readonly network: string;
  readonly unanswered: Set<ServerResponse>;
}

const connections = new Map<Socket, Connection>();
/** Of each network, the requests that wait behind another one of their connection. */
const waiting = new Map<string, number>();
let waitingOfAll = 0;
/** Requests of a closed connection are not given back: they count until the second is over. */
const pipelined = new AddressBudget('pipelined', MAX_PIPELINED, 1);

/**
 * A response whose connection is closed when too many requests are pipelined: each holds memory while it waits, and the
 * time that Node takes for a lost connection grows with the square of their number.
 *
 * It also emits `close` when its connection is lost while it waits behind another response. Node emits it only for the
 * response that is being sent.
 */
export class CountedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  constructor(...args: [Request]) {
    super(...args);
    const { socket } = this.req;
    const connection = connections.get(socket) ?? open(socket);
    connection.unanswered.add(this);
    this.once('close', answered);
    const { size } = connection.unanswered;
    if (size === 1) return;
    const ofNetwork = addWaiting(connection, 1);
    const isTooMuch = size > MAX_UNANSWERED || ofNetwork > MAX_PIPELINED || waitingOfAll > MAX_PIPELINED_BY_ALL;
    if (isTooMuch || !pipelined.take(connection.address).passes) discard(socket);
  }
}

function open(socket: Socket): Connection {
  const address = socket.remoteAddress ?? '';
  const connection = { address, network: networkOf(address), unanswered: new Set<ServerResponse>() };
  connections.set(socket, connection);
  socket.once('close', () => {
    connections.delete(socket);
    addWaiting(connection, 1 - Math.max(1, connection.unanswered.size));
    for (const response of connection.unanswered) {
      // Node closes the one that has the socket.
      if (response.socket === null) response.destroy().emit('close');
    }
  });
  return connection;
}

function answered(this: ServerResponse): void {
  const connection = connections.get(this.req.socket);
  connection?.unanswered.delete(this);
  if (connection === undefined || connection.unanswered.size === 0) return;
  addWaiting(connection, -1);
  pipelined.giveBack(connection.address);
}

/** @returns how many of the same network wait */
function addWaiting({ network }: Connection, more: number): number {
  if (more === 0) return 0;
  waitingOfAll += more;
  const count = (waiting.get(network) ?? 0) + more;
  if (count > 0) waiting.set(network, count);
  else waiting.delete(network);
  return count;
}

/** Closes a connection without reading what it has sent. */
function discard(socket: Socket & { parser?: { onIncoming: () => number } }): void {
  socket.destroy();
  // Node would go on to create all requests in the piece that has arrived. Its parser stops at 2, as for an upgrade.
  if (socket.parser) socket.parser.onIncoming = () => 2;
}
