import type { FastifyInstance } from 'fastify';
import { UuidV7Ids } from '#kernel/ids.js';

/** The JSON schema of a request body. */
export const BODY = {
  type: 'object',
  required: ['message'],
  properties: { message: { type: 'string', minLength: 1 } },
} as const;

const ids = new UuidV7Ids();

/** The response body of `POST /messages`. */
export function acceptedAt(now: Date, message: string) {
  return { id: ids.next('msg', now), message, status: 'queued', createdAt: now.toISOString() };
}

/** Listens on PORT until SIGTERM and notifies the parent when ready. */
export async function serve(fastify: FastifyInstance): Promise<void> {
  process.once('SIGTERM', () => process.exit(0));
  process.once('disconnect', () => process.exit(0));
  await fastify.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
  process.send?.('ready');
}
