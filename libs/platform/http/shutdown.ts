import type { FastifyInstance } from 'fastify';

/**
 * Ends an HTTP server without leaving a request unanswered: no new connections, `Connection: close` on each answer,
 * idle connections closed, and after `graceMs` milliseconds whatever is left.
 * @returns the function that does it; it resolves when the last connection is closed
 */
export function gracefulShutdown(fastify: FastifyInstance, graceMs: number): () => Promise<void> {
  let stopping = false;
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (stopping) void reply.header('connection', 'close');
    done();
  });
  return async () => {
    stopping = true;
    const server = fastify.server;
    const closed = new Promise<void>((resolve) =>
      server.close(() => {
        resolve();
      }),
    );
    const idle = setInterval(() => {
      server.closeIdleConnections();
    }, 50);
    const rest = setTimeout(() => {
      server.closeAllConnections();
    }, graceMs);
    await closed;
    clearInterval(idle);
    clearTimeout(rest);
  };
}
