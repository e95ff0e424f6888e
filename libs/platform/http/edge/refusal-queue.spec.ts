import { RefusalQueue } from './refusal-queue.js';

describe('RefusalQueue', () => {
  const nextIteration = () => new Promise((resolve) => setImmediate(resolve));
  let now: number;
  beforeEach(() => {
    now = 1_000_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('runs refusals at once while there are few', async () => {
    const queue = new RefusalQueue();
    const done: number[] = [];
    for (let n = 0; n < 3; n++) queue.run(() => done.push(n));
    expect(done).toEqual([0, 1, 2]);
    await nextIteration();
    queue.run(() => done.push(3));
    expect(done).toEqual([0, 1, 2, 3]);
  });

  it('runs the rest in later iterations, in order, within its share of the time', async () => {
    const queue = new RefusalQueue();
    const order: number[] = [];
    for (let n = 0; n < 40; n++) {
      queue.run(() => {
        order.push(n);
        now += 1;
      });
    }
    const counts = [order.length];
    for (const elseMs of [0, 4, 50, 1_000]) {
      now += elseMs;
      await nextIteration();
      counts.push(order.length);
    }
    expect(counts).toEqual([1, 2, 3, 8, 28]);
    while (order.length < 40) await nextIteration();
    expect(order).toEqual(Array.from({ length: 40 }, (_, n) => n));
  });
});
