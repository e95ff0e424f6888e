import { UsageError } from '#platform/process/usage-error.js';
import { divide } from './bullmq-consumer.js';

it.each([
  [50, 1, [50]],
  [8, 3, [3, 3, 2]],
  [4, 4, [1, 1, 1, 1]],
])('divide(%i, %i) adds up', (whole, queues, parts) => {
  expect(divide('WORKER_RATE', whole, queues)).toEqual(parts);
});

it('divide refuses less than one for each queue', () => {
  expect(() => divide('WORKER_RATE', 3, 4)).toThrow(
    new UsageError('WORKER_RATE must be at least QUEUE_SHARDS, 4: each queue needs a part of it; it is 3.'),
  );
});
