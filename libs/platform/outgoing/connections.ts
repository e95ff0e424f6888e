import { createRequire } from 'node:module';
import { Connection, type ConnectionOptions, type OutgoingAnswer, type OutgoingRequest } from './connection.js';

export { AnswerTooLong } from './answer-budget.js';
export { ForbiddenAddress, type Reach } from './connect.js';
export type { ConnectionOptions, OutgoingAnswer, OutgoingRequest } from './connection.js';

const { version } = createRequire(import.meta.url)('#package.json') as { readonly version: string };

/** What receivers are told: many firewalls refuse requests without it. */
export const USER_AGENT = `Sluice/${version}`;

/** Idle connections of a process. For more, the oldest of them is closed. */
export const MAX_IDLE = 256;

/** How a connection ends that a receiver closes while a request is sent over it. */
const CLOSED = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/**
 * Posts to receivers that need not mean well. Each request has a connection for itself, and whoever calls this limits
 * their number; idle connections are few and are kept for seconds only, whatever receivers ask for. Answers are bounded
 * in bytes, in events, and in time. Redirects are not followed, and proxies of the environment are ignored.
 */
export class OutgoingConnections {
  private readonly open = new Set<Connection>();
  /** The oldest first. */
  private readonly idle = new Set<Connection>();

  constructor(private readonly options: ConnectionOptions) {}

  get counts(): Readonly<Record<'busy' | 'idle', number>> {
    return { busy: this.open.size - this.idle.size, idle: this.idle.size };
  }

  /**
   * @param signal ends the request, unless its answer counts already
   * @throws Error when there is no answer
   */
  async post(origin: string, request: OutgoingRequest, signal: AbortSignal): Promise<OutgoingAnswer> {
    const others = Object.entries(request.headers).filter(([name]) => name.toLowerCase() !== 'user-agent');
    const named = { ...request, headers: { ...Object.fromEntries(others), 'user-agent': USER_AGENT } };
    const idle = this.idleTo(origin);
    if (idle !== undefined) {
      try {
        return await this.postBy(idle, named, signal);
      } catch (error) {
        // The receiver has closed it meanwhile, and has not seen the request.
        const isStale = idle.isUnanswered && CLOSED.includes((error as NodeJS.ErrnoException).code ?? '');
        if (!isStale || signal.aborted) throw error;
      }
    }
    const fresh = new Connection(origin, this.options, (connection) => {
      this.open.delete(connection);
      this.idle.delete(connection);
    });
    this.open.add(fresh);
    return this.postBy(fresh, named, signal);
  }

  async close(): Promise<void> {
    await Promise.all([...this.open].map((connection) => connection.close()));
  }

  private postBy(connection: Connection, request: OutgoingRequest, signal: AbortSignal): Promise<OutgoingAnswer> {
    return connection.request(request, signal, () => {
      if (!this.open.has(connection)) return;
      this.idle.add(connection);
      const [oldest] = this.idle;
      if (this.idle.size > MAX_IDLE) void oldest?.close();
    });
  }

  /** The newest, which is the least likely to be closed meanwhile. */
  private idleTo(origin: string): Connection | undefined {
    const connection = [...this.idle].findLast((one) => one.origin === origin);
    if (connection !== undefined) this.idle.delete(connection);
    return connection;
  }
}
