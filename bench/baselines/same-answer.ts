import type { FastifyInstance } from 'fastify';
import { UuidV7Ids } from '#kernel/ids.js';

/** The body of a request, as Fastify checks it. */
export const BODY = {
  type: 'object',
  required: ['message'],
  properties: { message: { type: 'string', minLength: 1 } },
} as const;

const ids = new UuidV7Ids();

/** What `POST /messages` is answered with. */
export function acceptedAt(now: Date, message: string) {
  return { id: ids.next('msg', now), message, status: 'queued', createdAt: now.toISOString() };
}

/** Listens on PORT and says so, until SIGTERM. */
export async function serve(fastify: FastifyInstance): Promise<void> {
  process.once('SIGTERM', () => process.exit(0));
  process.once('disconnect', () => process.exit(0));
  await fastify.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
  process.send?.('ready');
}
