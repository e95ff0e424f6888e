import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf, type TrustedProxies } from '../access/client-address.js';

declare module 'fastify' {
  interface FastifyInstance {
    connectionRoom: ConnectionRoom;
  }
}

/**
 * How long a new connection has to present a key. It does not apply to an address with more than FEW connections
 * without a key.
 */
const NEW_MS = 1_000;
const FEW = 10;
/** The share of all connections that one account may have while every other connection waits for a response. */
const SHARE = 1 / 8;
/** Between the decision to close a connection and its end, further ones may be accepted. */
const MARGIN = 100;

interface Connection {
  readonly openedAt: number;
  /** Connections of the same address without a key, or connections of the same account; the oldest first. */
  group: Set<Socket>;
  groups: Map<string, Set<Socket>>;
  name: string;
}

/**
 * Makes room for a new connection when the process has as many as it may have. The first to be closed is the oldest of
 * the address with the most connections without a key, then the oldest idle connection of the account with the most
 * connections, then the oldest connection of that account if it has more than an eighth of all. If there is none of
 * these, the new connection is closed.
 *
 * A trusted proxy carries many clients: each of its connections counts as a separate address and a separate account.
 */
export class ConnectionRoom {
  private readonly connections = new Map<Socket, Connection>();
  private readonly strangers = new Map<string, Set<Socket>>();
  private readonly callers = new Map<string, Set<Socket>>();
  private proxied = 0;

  constructor(
    private readonly max: number,
    private readonly proxies: Pick<TrustedProxies, 'includes'>,
    private readonly isServed: (socket: Socket) => boolean,
  ) {}

  watch(server: Server): void {
    // Beyond it, Node closes new connections without a look at the others.
    server.maxConnections = this.max + MARGIN;
    server.on('connection', (socket: Socket) => {
      this.add(socket);
    });
  }

  add(socket: Socket): void {
    const address = networkOf(socket.remoteAddress ?? '');
    const name = this.proxies.includes(address) ? `${address} ${this.proxied++}` : address;
    const group = groupOf(this.strangers, name);
    group.add(socket);
    this.connections.set(socket, { openedAt: performance.now(), group, groups: this.strangers, name });
    socket.once('close', () => {
      this.remove(socket);
    });
    if (this.connections.size <= this.max) return;
    const closed = this.silent(socket) ?? this.idle() ?? this.greedy() ?? socket;
    this.remove(closed);
    closed.destroy();
  }

  /** Notes that a connection has presented a valid key. */
  recognize(socket: Socket, accountId: string): void {
    const connection = this.connections.get(socket);
    if (connection?.groups !== this.strangers) return;
    const { name } = connection;
    this.leave(socket, connection);
    connection.groups = this.callers;
    if (!name.includes(' ')) connection.name = accountId;
    connection.group = groupOf(this.callers, connection.name);
    connection.group.add(socket);
  }

  private remove(socket: Socket): void {
    const connection = this.connections.get(socket);
    if (connection !== undefined) this.leave(socket, connection);
    this.connections.delete(socket);
  }

  private leave(socket: Socket, { group, groups, name }: Connection): void {
    if (group.delete(socket) && group.size === 0) groups.delete(name);
  }

  /** A connection without a key: an idle one, or the oldest. */
  private silent(newest: Socket): Socket | undefined {
    const group = largest(this.strangers);
    const isNew = (socket: Socket) => performance.now() - (this.connections.get(socket)?.openedAt ?? 0) <= NEW_MS;
    for (const socket of group) if (!isNew(socket) && !this.isServed(socket)) return socket;
    const [oldest] = group;
    if (oldest === undefined || oldest === newest) return undefined;
    return group.size > FEW || !isNew(oldest) ? oldest : undefined;
  }

  /** An idle connection of the account with the most connections. */
  private idle(): Socket | undefined {
    return this.unserved(largest(this.callers));
  }

  private greedy(): Socket | undefined {
    const group = largest(this.callers);
    const [oldest] = group;
    return group.size > this.max * SHARE ? oldest : undefined;
  }

  private unserved(group: ReadonlySet<Socket>): Socket | undefined {
    for (const socket of group) if (!this.isServed(socket)) return socket;
    return undefined;
  }
}

function groupOf(groups: Map<string, Set<Socket>>, name: string): Set<Socket> {
  const group = groups.get(name) ?? new Set();
  groups.set(name, group);
  return group;
}

function largest(groups: ReadonlyMap<string, ReadonlySet<Socket>>): ReadonlySet<Socket> {
  let found: ReadonlySet<Socket> = new Set();
  for (const group of groups.values()) if (group.size > found.size) found = group;
  return found;
}
