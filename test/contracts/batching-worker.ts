import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, Worker } from 'bullmq';
import { WORKER_NAME } from '#delivery/adapters/bullmq/delivery-job.js';
import { WorkerPlaces } from '#delivery/adapters/bullmq/worker-places.js';
import { aMessage, messages } from '../support/messages.js';
import { until } from '../support/processes.js';
import type { BullMqProcess } from './bullmq-process.js';

interface Batching {
  readonly process: () => BullMqProcess;
  /** Starts a worker that exchanges jobs in batches. */
  readonly work: (run: (job: Job) => Promise<unknown>, concurrency?: number) => Worker;
  /** Lets another worker have the lock of a job. */
  readonly steal: (jobId: string) => Promise<unknown>;
}

/** What holds for a worker wherever its jobs are. */
export function describeBatchingWorker({ process, work, steal }: Batching): void {
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

  it('takes no job in the place of one whose lock is lost', async () => {
    const { bullmq, queue, waiting } = process();
    const message = aMessage();
    await queue.add([message]);
    let end: () => void = () => undefined;
    const errors: Error[] = [];
    const worker = work(() => new Promise<void>((resolve) => (end = resolve)), 1);
    worker.on('error', (error) => errors.push(error));
    await until(async () => (await bullmq.getActiveCount()) === 1);
    await steal(message.id);
    await bullmq.pause();
    await queue.add(messages(2));
    end();
    await until(() => errors.length > 0);
    expect(errors[0]?.message).toContain('Lock mismatch');
    expect(await bullmq.getActiveCount()).toBe(1);
    expect(await waiting()).toHaveLength(2);
  });

  it('takes jobs ahead for the next calls, and puts back those that nobody asks for', async () => {
    const { queue, bullmq, shard, waiting } = process();
    const ids = messages(5)
      .map(({ id }) => id)
      .sort();
    await queue.add(ids.map((id) => aMessage({ id })));
    const places = new WorkerPlaces(50, () => Promise.resolve(false));
    const settings = { ...{ autorun: false, lockDuration: 60_000, name: WORKER_NAME }, places };
    const worker = shard.createWorker(() => Promise.resolve(), settings);
    const take = async (call: number) => {
      const job = (await worker.getNextJob(`worker:${call}`, { block: false })) as Job | undefined;
      return job?.id;
    };

    try {
      expect([await take(1), await take(2)]).toEqual(ids.slice(0, 2));
      await until(async () => (await bullmq.getActiveCount()) === 2);
      expect((await waiting()).sort()).toEqual(ids.slice(2));
      expect(places.free).toBe(48);
      // A call that was left out does not matter.
      const rest = [await take(4), await take(5), await take(6), await take(7)];
      expect(rest.sort()).toEqual([...ids.slice(2), undefined]);
      const later = aMessage();
      await queue.add([later]);
      expect(await take(8)).toBe(later.id);
    } finally {
      await worker.close();
    }
  });
}
