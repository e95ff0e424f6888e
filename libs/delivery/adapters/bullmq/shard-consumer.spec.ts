import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, type Job } from 'bullmq';
import { ALWAYS_ACTIVE } from '#kernel/activity.js';
import { aMessage, unavailable } from '../../../../test/support/messages.js';
import { BullMqConsumer } from './bullmq-consumer.js';
import { toJobData } from './delivery-job.js';
import type { Processor, QueueConnection } from './queue-connection.js';

/** A consumer of one queue whose store is away. */
function openConsumer(giveTurns = () => Promise.resolve()) {
  let process: Processor | undefined;
  const worker = {
    close: jest.fn(() => Promise.resolve()),
    isPaused: () => false,
    run: () => Promise.resolve(),
    on: () => undefined,
  };
  const createWorker = (processor: Processor) => {
    process = processor;
    return worker;
  };
  const consumer = new BullMqConsumer(
    { shards: [{ createWorker }] } as unknown as QueueConnection,
    [{ giveTurns, mayUseReserve: () => Promise.resolve(false) }],
    () => Promise.reject(unavailable()),
    { concurrency: 1, rate: 0, lockMs: 30_000 },
    { isRight: true, onChange: () => undefined },
    { failed: () => undefined, stuck: () => undefined },
    ALWAYS_ACTIVE,
  );
  return { consumer, worker, process: async (job: Partial<Job>) => process?.(job as Job, 'token') };
}

it.each([
  ['delays a job', () => Promise.resolve()],
  ['leaves a job that cannot be delayed to another worker', () => Promise.reject(new Error('The queue is away.'))],
])('%s when the store is away, which uses up none of its attempts', async (_what, moveToDelayed) => {
  const { process } = openConsumer();
  const message = aMessage();
  const job = { id: message.id, data: toJobData(message), opts: {}, changePriority: () => Promise.resolve() };
  const moved = jest.fn(moveToDelayed);
  await expect(process({ ...job, moveToDelayed: moved })).rejects.toThrow(DelayedError);
  expect(moved).toHaveBeenCalledWith(expect.any(Number), 'token');
});

it('reports a job as given back only after its priority was reset and it was delayed', async () => {
  const { process } = openConsumer();
  const message = aMessage();
  const steps: string[] = [];
  const step = (name: string, ms: number) => async () => {
    await sleep(ms);
    steps.push(name);
  };
  const moves = { changePriority: step('turn lost', 20), moveToDelayed: step('delayed', 5) };
  const given = process({ id: message.id, data: toJobData(message), opts: {}, ...moves }).finally(() =>
    steps.push('given back'),
  );
  await expect(given).rejects.toThrow(DelayedError);
  expect(steps).toEqual(['turn lost', 'delayed', 'given back']);
});

it('stops taking jobs before it waits for its other tasks', async () => {
  let end: () => void = () => undefined;
  let begun: () => void = () => undefined;
  const turns = new Promise<void>((resolve) => (begun = resolve));
  const { consumer, worker } = openConsumer(() => {
    begun();
    return new Promise((resolve) => (end = resolve));
  });
  consumer.start();
  await turns;
  const closed = consumer.close(1_000);
  expect(worker.close).toHaveBeenCalled();
  end();
  await closed;
});
