import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { isServed } from './connections.js';

const LOOK_EVERY_MS = 50;
/** How long a connection without a request is left open for one that is on its way, in milliseconds. */
const PATIENCE_MS = 500;

/**
 * Ends an HTTP server without leaving a request unanswered: no new connections, `Connection: close` on each answer,
 * connections without a request closed, and after `graceMs` milliseconds whatever is left.
 * @returns the function that does it; it resolves when the last connection is closed
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
    const look = setInterval(() => {
      server.closeIdleConnections();
      // To Node, a connection that never sent a byte, or not yet a whole head, is not idle.
      if (performance.now() - stoppedAt < PATIENCE_MS) return;
      for (const socket of connections) if (!isServed(socket)) socket.destroy();
    }, LOOK_EVERY_MS);
    const rest = setTimeout(() => {
      server.closeAllConnections();
    }, graceMs);
    await closed;
    clearInterval(look);
    clearTimeout(rest);
  };
}
