import type { QueueConnection } from './queue-connection.js';

/** Read-only pages that show the queue. */
export class QueuePages {
  constructor(private readonly connection: QueueConnection) {}

  /** A Fastify plugin. Its packages are loaded only here: few processes need them, and each would start later. */
  async open(basePath: string) {
    const [{ createBullBoard }, { BullMQAdapter }, { FastifyAdapter }] = await Promise.all([
      import('@bull-board/api'),
      import('@bull-board/api/bullMQAdapter'),
      import('@bull-board/fastify'),
    ]);
    const serverAdapter = new FastifyAdapter().setBasePath(basePath);
    createBullBoard({
      queues: this.connection.shards.map(
        ({ queue }) => new BullMQAdapter(queue, { readOnlyMode: true, allowRetries: false }),
      ),
      serverAdapter,
      options: { uiConfig: { boardTitle: 'Sluice' } },
    });
    return serverAdapter.registerPlugin();
  }
}
