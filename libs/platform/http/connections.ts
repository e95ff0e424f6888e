import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RateLimitWindow } from './rate-limit-headers.js';

/** An unread answer of up to this many bytes fits into the buffers of the operating system. */
const SMALL_ANSWER_BYTES = 64 * 1024;
/** Whoever reads a large answer more slowly than this would have us keep it for them. */
const SLOWEST_READER_BYTES_PER_MS = 50;
/** The usual proxies and load balancers keep a connection for 60 s: it is for them to close it, not for us. */
export const KEEP_ALIVE_MS = 72_000;
/** How much later than a request's own clock, which answers 408, that of its connection strikes. */
const AFTER_REQUEST_MS = 2_000;

/** A request with its answer, as they are by now. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The windows that count it, once they are known. */
  readonly windows: readonly RateLimitWindow[] | undefined;
  /** Whether it is the last one of its connection. */
  readonly isLast: boolean;
}

class FastifyExchange implements Exchange {
  constructor(
    private readonly asked: FastifyRequest,
    private readonly reply: FastifyReply,
  ) {}

  get request(): IncomingMessage {
    return this.asked.raw;
  }

  get response(): ServerResponse {
    return this.reply.raw;
  }

  get windows(): readonly RateLimitWindow[] | undefined {
    return this.asked.rateLimit;
  }

  get isLast(): boolean {
    return this.reply.getHeader('connection') === 'close';
  }
}

const newest = new WeakMap<Socket, Exchange>();

/** Must be told of each request, before it is answered or passed on. */
export function noteExchange(exchange: Exchange): void {
  newest.set(exchange.request.socket, exchange);
}

/** The newest request of a connection, with its answer. */
export function newestOf(socket: Socket): Exchange | undefined {
  return newest.get(socket);
}

/** Whether a request of this connection still waits for its answer. */
export function isServed(socket: Socket): boolean {
  return newest.get(socket)?.response.writableFinished === false;
}

/**
 * Closes what keeps a connection for nothing: an answer that is not read, or read too slowly. A request that doesn't
 * arrive has a clock of its own, as have connections on which there is none; what takes us long has none here.
 */
export function watchConnections(fastify: FastifyInstance, requestTimeoutMs: number, maxConnections: number): void {
  const { server } = fastify;
  server.maxConnections = maxConnections;
  // Whoever has sent all that they have to say may well wait for the answer. Node ends such a connection unanswered.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.setTimeout(requestTimeoutMs + AFTER_REQUEST_MS, (socket: Socket) => {
    if (newest.get(socket)?.response.writableEnded !== false) socket.destroy();
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    noteExchange(new FastifyExchange(request, reply));
    done();
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const size = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0;
    if (size > SMALL_ANSWER_BYTES) {
      const late = () => request.raw.socket.destroy();
      const clock = setTimeout(late, requestTimeoutMs + size / SLOWEST_READER_BYTES_PER_MS);
      reply.raw.once('close', () => {
        clearTimeout(clock);
      });
    }
    done();
  });
}
