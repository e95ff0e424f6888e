import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { DomainError } from '#kernel/domain-error.js';
import { Batcher, type BatcherOptions } from './batcher.js';

const unavailable = new DomainError('unavailable', 'The store is away.');

/** A batcher whose runs double their numbers when the test lets them go on. */
function doubling(
  options: Partial<BatcherOptions<number>> = {},
  fault: (items: number[]) => unknown = () => undefined,
) {
  const runs: number[][] = [];
  const waiting: (() => void)[] = [];
  let open = true;
  const batcher = new Batcher<number, number>(
    async (items) => {
      runs.push(items);
      if (!open) await new Promise<void>((go) => waiting.push(go));
      const error = fault(items);
      if (error !== undefined) throw error as Error;
      return items.map((item) => 2 * item);
    },
    { maxItems: 100, maxWaiting: 1_000, ...options },
  );
  const submitAll = (items: number[]) => Promise.allSettled(items.map((item) => batcher.submit(item)));
  return {
    batcher,
    runs,
    submitAll,
    hold: () => (open = false),
    /** Lets the oldest run that waits go on, and what follows from it happen. */
    next: async () => {
      waiting.shift()?.();
      await turn();
      await turn();
    },
  };
}

const settledWith = (values: unknown[]) => values.map((value) => ({ status: 'fulfilled', value }));

describe('Batcher', () => {
  it('takes all that was submitted in one turn in one run, and gives each its own result', async () => {
    const { runs, submitAll } = doubling();
    expect(await submitAll([3, 1, 2])).toEqual(settledWith([6, 2, 4]));
    expect(runs).toEqual([[3, 1, 2]]);
  });

  it('lets a lone caller wait for nobody', async () => {
    const { batcher, runs } = doubling();
    expect(await batcher.submit(1)).toBe(2);
    expect(await batcher.submit(2)).toBe(4);
    expect(runs).toEqual([[1], [2]]);
  });

  it('takes what comes during a run in the next one', async () => {
    const { batcher, runs, hold, next } = doubling();
    hold();
    const results = [batcher.submit(1)];
    await turn();
    for (const item of [2, 3]) {
      results.push(batcher.submit(item));
      await turn();
    }
    expect(runs).toEqual([[1]]);
    await next();
    expect(runs).toEqual([[1], [2, 3]]);
    await next();
    expect(await Promise.all(results)).toEqual([2, 4, 6]);
  });

  it('has as many runs under way as it may, and no more', async () => {
    const { runs, submitAll, hold, next } = doubling({ maxItems: 2, concurrency: 2 });
    hold();
    const results = submitAll([1, 2, 3, 4, 5]);
    for (let round = 0; round < 5; round++) await turn();
    expect(runs).toEqual([
      [1, 2],
      [3, 4],
    ]);
    await next();
    expect(runs.at(-1)).toEqual([5]);
    await next();
    await next();
    expect(await results).toEqual(settledWith([2, 4, 6, 8, 10]));
  });

  it('keeps order, results and limits whatever is submitted', async () => {
    const limits = fc.record({
      items: fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 60, size: 'max' }),
      maxItems: fc.integer({ min: 1, max: 10 }),
      maxBytes: fc.integer({ min: 1, max: 100 }),
      concurrency: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(limits, async ({ items, ...options }) => {
        const { batcher, runs, submitAll } = doubling({ ...options, sizeOf: (item) => item });
        expect(await submitAll(items)).toEqual(settledWith(items.map((item) => 2 * item)));
        await batcher.idle();
        expect(runs.flat()).toEqual(items);
        const bytes = (run: number[]) => run.reduce((sum, item) => sum + item, 0);
        expect(runs.filter((run) => run.length > options.maxItems)).toEqual([]);
        expect(runs.filter((run) => run.length > 1 && bytes(run) > options.maxBytes)).toEqual([]);
      }),
    );
  });

  it('refuses more items, and more bytes, than may wait, and takes new ones when there is room', async () => {
    const { batcher, submitAll, hold, next } = doubling({ maxWaiting: 3, maxWaitingBytes: 10, sizeOf: (item) => item });
    hold();
    const first = batcher.submit(9);
    await turn();
    const results = submitAll([1, 9, 1, 0, 0]);
    await turn();
    await next();
    await next();
    const refused = { status: 'rejected', reason: expect.objectContaining({ code: 'unavailable' }) as unknown };
    expect(await results).toEqual([...settledWith([2, 18]), refused, ...settledWith([0]), refused]);
    expect(await first).toBe(18);
    const again = batcher.submit(10);
    await turn();
    await next();
    expect(await again).toBe(20);
  });

  it('fails one bad item alone', async () => {
    const bad = new Error('13 is bad');
    const { runs, submitAll } = doubling({}, (items) => (items.includes(13) ? bad : undefined));
    const [first, second, third] = await submitAll([1, 13, 2]);
    expect([first, third]).toEqual(settledWith([2, 4]));
    expect(second).toEqual({ status: 'rejected', reason: bad });
    expect(runs).toEqual([[1, 13, 2], [1], [13], [2]]);
  });

  it('does not ask a store that is away once for each item', async () => {
    const { runs, submitAll } = doubling({}, () => unavailable);
    const results = await submitAll([1, 2, 3]);
    expect(results).toEqual(Array(3).fill({ status: 'rejected', reason: unavailable }));
    expect(runs).toHaveLength(1);
  });

  it('goes on after a failure', async () => {
    let away = true;
    const { batcher } = doubling({}, () => (away ? unavailable : undefined));
    await expect(batcher.submit(1)).rejects.toBe(unavailable);
    away = false;
    expect(await batcher.submit(1)).toBe(2);
  });

  it('is idle when nothing waits and nothing runs', async () => {
    const { batcher, submitAll, hold, next } = doubling({ maxItems: 1, concurrency: 2 });
    await batcher.idle();
    hold();
    const results = submitAll([1, 2, 3]);
    let idle = false;
    const waited = batcher.idle().then(() => (idle = true));
    for (let run = 0; run < 3; run++) {
      await turn();
      expect(idle).toBe(false);
      await next();
    }
    await waited;
    expect(await results).toHaveLength(3);
  });
});
