import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { messages } from '../support/messages.js';
import { until } from '../support/processes.js';
import type { BullMqProcess } from './bullmq-process.js';

interface Batching {
  readonly process: () => BullMqProcess;
  /** Starts a worker that exchanges jobs in batches. */
  readonly work: (run: (job: Job) => Promise<unknown>) => unknown;
}

/** What holds for a worker wherever its jobs are. */
export function describeBatchingWorker({ process, work }: Batching): void {
  it('takes nothing while the queue is paused, and only what the limit of the queue allows', async () => {
    await process().queue.add(messages(20));
    await process().bullmq.pause();
    let running = 0;
    let most = 0;
    let done = 0;
    work(async () => {
      most = Math.max(most, ++running);
      await sleep(5);
      running--;
      done++;
    });
    await sleep(200);
    expect(done).toBe(0);
    await process().bullmq.setGlobalConcurrency(2);
    await process().bullmq.resume();
    await until(() => done === 20);
    expect(most).toBe(2);
  });

  it('runs a delayed job when it is due, beside others and alone', async () => {
    const done: unknown[] = [];
    work((job) => Promise.resolve(done.push(job.id)));
    for (const others of [messages(50), []]) {
      const [delayed] = messages(1);
      await process().bullmq.add('message', {}, { jobId: delayed?.id ?? '', delay: 300 });
      await process().queue.add(others);
      await until(() => done.includes(delayed?.id));
    }
  });
}
