/**
 * Bare Fastify that sends the replies of an event loop tick together, so that callers on the same machine return
 * together as well. A service with group commit has the same effect for free, so bare Fastify alone would be
 * too kind a comparison.
 */
import Fastify from 'fastify';
import { acceptedAt, BODY, serve } from './same-response.js';

let waiting: (() => void)[] = [];

function together(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) > 1) return;
    setImmediate(() => {
      const all = waiting;
      waiting = [];
      for (const next of all) next();
    });
  });
}

const fastify = Fastify();
fastify.post<{ Body: { message: string } }>('/messages', { schema: { body: BODY } }, async (request, reply) => {
  const accepted = acceptedAt(new Date(), request.body.message);
  await together();
  return reply.code(202).header('location', `/messages/${accepted.id}`).send(accepted);
});
await serve(fastify);
