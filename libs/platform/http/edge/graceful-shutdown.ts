import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { isServed } from './connections.js';

const CHECK_EVERY_MS = 50;
/** How long a connection without a request stays open for one in transit, in milliseconds. */
const IDLE_GRACE_MS = 500;

/**
 * Stops an HTTP server after responding to all requests: it accepts no new connections, sends `Connection: close` with
 * each response, closes connections without a request, and after `graceMs` milliseconds the rest.
 * @returns the function that stops it; it resolves when the last connection is closed
 */
export function gracefulShutdown(fastify: FastifyInstance, graceMs: number): () => Promise<void> {
  const { server } = fastify;
  const connections = new Set<Socket>();
  let stopping = false;
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
  });
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (stopping) void reply.header('connection', 'close');
    done();
  });
  return async () => {
    stopping = true;
    const stoppedAt = performance.now();
    const closed = new Promise<void>((resolve) =>
      server.close(() => {
        resolve();
      }),
    );
    const check = setInterval(() => {
      server.closeIdleConnections();
      // Node does not count connections as idle that have sent nothing or only part of their headers.
      if (performance.now() - stoppedAt < IDLE_GRACE_MS) return;
      for (const socket of connections) if (!isServed(socket)) socket.destroy();
    }, CHECK_EVERY_MS);
    const closeAll = setTimeout(() => {
      server.closeAllConnections();
    }, graceMs);
    await closed;
    clearInterval(check);
    clearTimeout(closeAll);
  };
}
