import type { Queue } from 'bullmq';

/**
 * Pages that show the queue and change nothing of it, as a plugin for Fastify.
 * Their packages are loaded only now: few processes are ever asked, and each would start later for it.
 */
export async function queuePages(queue: Queue, basePath: string) {
  const [{ createBullBoard }, { BullMQAdapter }, { FastifyAdapter }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/fastify'),
  ]);
  const serverAdapter = new FastifyAdapter().setBasePath(basePath);
  createBullBoard({
    queues: [new BullMQAdapter(queue, { readOnlyMode: true, allowRetries: false })],
    serverAdapter,
    options: { uiConfig: { boardTitle: 'Sluice' } },
  });
  return serverAdapter.registerPlugin();
}
