import type { QueueConnection } from './queue-connection.js';

/**
 * A Fastify plugin with read-only pages that show the queue. Its packages are loaded only here: few processes need them,
 * and each would start later.
 */
export async function openQueuePages({ shards }: QueueConnection, basePath: string) {
  const [{ createBullBoard }, { BullMQAdapter }, { FastifyAdapter }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/fastify'),
  ]);
  const serverAdapter = new FastifyAdapter().setBasePath(basePath);
  createBullBoard({
    queues: shards.map(({ queue }) => new BullMQAdapter(queue, { readOnlyMode: true, allowRetries: false })),
    serverAdapter,
    options: { uiConfig: { boardTitle: 'Sluice' } },
  });
  return serverAdapter.registerPlugin();
}
