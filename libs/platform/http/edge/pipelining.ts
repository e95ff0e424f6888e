import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../access/client-address.js';

/** The maximum number of requests of a connection that wait for their responses. */
const MAX_UNANSWERED = 32;
/**
 * The same limit for all connections of an address, and of an account; the first request of each connection is not
 * counted. Connections that have not presented a valid key share one limit, whatever their address: otherwise a flood
 * from many addresses would use up MAX_PIPELINED_BY_ALL.
 */
const MAX_PIPELINED = 500;
/** The same limit for all together. */
const MAX_PIPELINED_BY_ALL = 2_000;
/** Whoever has fewer is not affected by what others pipeline. */
const ALWAYS_ALLOWED = 8;
/**
 * How long requests of a lost connection count. Creating them causes most of the cost, and an attacker reconnects at
 * once.
 */
const LOST_FOR_MS = 1_000;
const ANONYMOUS = '';

interface Connection {
  readonly unanswered: Set<ServerResponse>;
  /** The network of its address and its account, or ANONYMOUS. */
  holders: readonly string[];
}

const connections = new Map<Socket, Connection>();
/** By holder: the number of requests that wait behind an earlier request of the same connection. */
const waiting = new Map<string, number>();
let waitingOfAll = 0;

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
    const { holders, unanswered } = connection;
    if (unanswered.size > 0) {
      if (unanswered.size === MAX_UNANSWERED || holdTooMany(holders)) {
        discard(socket);
        return;
      }
      addWaiting(holders, 1);
    }
    unanswered.add(this);
    this.once('close', answered);
  }
}

function holdTooMany(holders: readonly string[]): boolean {
  const most = Math.max(...holders.map((holder) => waiting.get(holder) ?? 0));
  return most >= MAX_PIPELINED || (waitingOfAll >= MAX_PIPELINED_BY_ALL && most >= ALWAYS_ALLOWED);
}

/**
 * Called when a request presents a valid key: from now on, the requests that its connection pipelines count for its
 * address and its account.
 * @param account null if it is not known yet
 */
export function countForCaller(socket: Socket, account: string | null): void {
  const connection = connections.get(socket);
  if (connection === undefined || connection.holders.length === 2) return;
  const address = networkOf(socket.remoteAddress ?? '');
  const count = connection.unanswered.size - 1;
  addWaiting(connection.holders, -count);
  connection.holders = account === null ? [address] : [address, account];
  addWaiting(connection.holders, count);
}

function open(socket: Socket): Connection {
  const connection = { unanswered: new Set<ServerResponse>(), holders: [ANONYMOUS] };
  connections.set(socket, connection);
  // Each of its requests may wait for the end.
  socket.setMaxListeners(0);
  socket.once('close', () => {
    connections.delete(socket);
    const { holders, unanswered } = connection;
    if (unanswered.size > 1) setTimeout(addWaiting, LOST_FOR_MS, holders, 1 - unanswered.size).unref();
    for (const response of unanswered) {
      // Node closes the response that has the socket.
      if (response.socket === null) response.destroy().emit('close');
    }
  });
  return connection;
}

function answered(this: ServerResponse): void {
  const connection = connections.get(this.req.socket);
  connection?.unanswered.delete(this);
  if (connection !== undefined && connection.unanswered.size > 0) addWaiting(connection.holders, -1);
}

function addWaiting(holders: readonly string[], more: number): void {
  waitingOfAll += more;
  for (const holder of holders) {
    const count = (waiting.get(holder) ?? 0) + more;
    if (count > 0) waiting.set(holder, count);
    else waiting.delete(holder);
  }
}

/** Closes a connection without reading what it has sent. */
function discard(socket: Socket & { parser?: { onIncoming: () => number } }): void {
  socket.destroy();
  // Node would still create all requests in the chunk that has arrived. Its parser stops at 2, as for an upgrade.
  if (socket.parser) socket.parser.onIncoming = () => 2;
}
