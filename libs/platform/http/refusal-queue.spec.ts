import { RefusalQueue } from './refusal-queue.js';

describe('RefusalQueue', () => {
  const nextIteration = () => new Promise((resolve) => setImmediate(resolve));
  const busy = (ms: number) => {
    const until = performance.now() + ms;
    while (performance.now() < until);
  };

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
    const runs: number[] = [];
    for (let n = 0; n < 40; n++) {
      queue.run(() => {
        order.push(n);
        busy(1);
      });
    }
    while (order.length < 40) {
      runs.push(order.length);
      await nextIteration();
      busy(4);
    }
    expect(order).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect(runs[0]).toBeLessThan(5);
    // A longer pause between two iterations, as on a busy machine, allows more in the next one.
    const atOnce = [...runs, 40].map((sofar, index, all) => sofar - (all[index - 1] ?? 0));
    expect(Math.max(...atOnce)).toBeLessThan(30);
  });
});
