/**
 * The ceiling of the framework: the same JSON in and out as `POST /messages`, and nothing else. Everything Sluice does
 * on top (authenticate, limit, store, queue) costs the difference.
 */
import Fastify from 'fastify';
import { acceptedAt, BODY, serve } from './same-response.js';

const fastify = Fastify();
fastify.post<{ Body: { message: string } }>('/messages', { schema: { body: BODY } }, (request, reply) => {
  const accepted = acceptedAt(new Date(), request.body.message);
  return reply.code(202).header('location', `/messages/${accepted.id}`).send(accepted);
});
await serve(fastify);
