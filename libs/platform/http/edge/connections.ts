import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** An unread response of up to this many bytes fits into the buffers of the operating system. */
export const SMALL_RESPONSE_BYTES = 64 * 1024;
/** A client that reads a large response more slowly would make us keep it in memory. */
const SLOWEST_READER_BYTES_PER_MS = 50;
/** An unread body of up to this many bytes is cheaper to read and discard than a connection is to reopen. */
const DISCARDED_BODY_BYTES = 64 * 1024;
/** A client that is still sending must be able to read its response before the connection is reset. */
const LINGER_MS = 1_000;
/** The timeout of a connection fires this much later than the timeout of its request, which responds with 408. */
const AFTER_REQUEST_MS = 2_000;

const newest = new WeakMap<Socket, FastifyReply>();

/** Requests that wait for `100 Continue` before they send their body. */
export const expectingContinue = new WeakSet<IncomingMessage>();

/** Connections whose newest request was refused before all of it had arrived: what its end means is decided already. */
export const abandonedSockets = new WeakSet<Socket>();

/** The reply to the newest request of a connection. */
export function newestReply(socket: Socket): FastifyReply | undefined {
  return newest.get(socket);
}

/** Whether a request of this connection still waits for its response. */
export function isServed(socket: Socket): boolean {
  return newest.get(socket)?.raw.writableFinished === false;
}

/**
 * Aborts when the connection of a request is lost or its client has closed its side, and so no longer waits for the
 * response.
 */
export function goneSignal({ raw: { socket } }: FastifyRequest, reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const abort = () => {
    gone.abort();
  };
  // Either may have happened while the request was authenticated.
  if (reply.raw.destroyed || socket.readableEnded) abort();
  socket.once('end', abort);
  reply.raw.once('close', () => {
    socket.off('end', abort);
    abort();
  });
  return gone.signal;
}

/** Closes a connection after its response, while the client may still be sending: what arrives meanwhile is discarded. */
export function closeLingering(socket: Socket): void {
  socket.end();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** Whether a response now must close the connection, because reading the rest of the request would take too long. */
export function leavesBodyUnread(request: IncomingMessage): boolean {
  if (request.complete || request.readableEnded) return false;
  if (request.headers['transfer-encoding'] !== undefined) return true;
  return Number(request.headers['content-length'] ?? 0) > DISCARDED_BODY_BYTES;
}

/** Makes Node close the connection of a request whose body was not read with `closeLingering`, instead of resetting it. */
export function lingerAfter(request: IncomingMessage): void {
  const { socket } = request;
  socket.destroySoon = () => {
    request.resume();
    closeLingering(socket);
  };
}

/**
 * Closes connections whose response is not read, or read too slowly. Requests that do not arrive and idle connections
 * have separate timeouts; the time that the API takes to respond is not limited here.
 */
export function watchConnections(fastify: FastifyInstance, requestTimeoutMs: number): void {
  const { server } = fastify;
  // A client may close its side after the request and wait for the response. Node would end the connection at once.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.setTimeout(requestTimeoutMs + AFTER_REQUEST_MS, (socket: Socket) => {
    if (newest.get(socket)?.raw.writableEnded === false) return;
    const { bytesRead } = socket;
    // Timers run before what has arrived is read: a request that came in time gets its response.
    setImmediate(() => {
      if (socket.bytesRead !== bytesRead) return;
      if (isServed(socket)) socket.destroy();
      else closeLingering(socket);
    });
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    // It arrived after the connection was closed or reset, which leaves it no address, and could get no response.
    if (!socket.writable || socket.remoteAddress === undefined) {
      reply.hijack();
      return;
    }
    newest.set(socket, reply);
    done();
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const size = typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;
    if (size > SMALL_RESPONSE_BYTES && !reply.raw.destroyed) {
      const destroy = () => request.raw.socket.destroy();
      const timer = setTimeout(destroy, requestTimeoutMs + size / SLOWEST_READER_BYTES_PER_MS).unref();
      reply.raw.once('close', () => {
        clearTimeout(timer);
      });
    }
    done();
  });
}
