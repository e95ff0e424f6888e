import { setImmediate as loopIteration } from 'node:timers/promises';
import fc from 'fast-check';
import { DomainError } from '#kernel/domain-error.js';
import { Batcher, type BatcherOptions } from './batcher.js';

const unavailable = new DomainError('unavailable', 'The database is unavailable.');

/** A batcher whose runs double their numbers, once the test releases them if they are held. */
function doubling(
  options: Partial<BatcherOptions<number>> = {},
  failure: (items: number[]) => Error | undefined = () => undefined,
) {
  const runs: number[][] = [];
  const held: (() => void)[] = [];
  let holding = false;
  const batcher = new Batcher<number, number>(
    async (items) => {
      runs.push(items);
      if (holding) await new Promise<void>((release) => held.push(release));
      const error = failure(items);
      if (error !== undefined) throw error;
      return items.map((item) => 2 * item);
    },
    { maxItems: 100, maxWaiting: 1_000, ...options },
  );
  return {
    batcher,
    runs,
    submitAll: (items: number[]) => Promise.allSettled(items.map((item) => batcher.submit(item))),
    hold: () => (holding = true),
    /** Releases the oldest held run. */
    release: async () => {
      held.shift()?.();
      await loopIteration();
      await loopIteration();
    },
  };
}

const fulfilled = (values: unknown[]) => values.map((value) => ({ status: 'fulfilled', value }));

describe('Batcher', () => {
  it('runs items of one loop iteration together, items that arrive during a run together, and a single item at once', async () => {
    const { batcher, runs, submitAll, hold, release } = doubling();
    expect(await submitAll([3, 1, 2])).toEqual(fulfilled([6, 2, 4]));
    expect(await batcher.submit(4)).toBe(8);
    await batcher.idle();
    hold();
    const results = [];
    for (const item of [5, 6, 7]) {
      results.push(batcher.submit(item));
      await loopIteration();
    }
    expect(runs.slice(2)).toEqual([[5]]);
    await release();
    await release();
    expect(await Promise.all(results)).toEqual([10, 12, 14]);
    expect(runs).toEqual([[3, 1, 2], [4], [5], [6, 7]]);
  });

  it('has at most `concurrency` runs, and is idle once all have ended', async () => {
    const { batcher, runs, submitAll, hold, release } = doubling({ maxItems: 2, concurrency: 2 });
    await batcher.idle();
    hold();
    const results = submitAll([1, 2, 3, 4, 5]);
    let idle = false;
    const waited = batcher.idle().then(() => (idle = true));
    for (let round = 0; round < 5; round++) await loopIteration();
    expect(runs).toHaveLength(2);
    for (let run = 0; run < 3; run++) {
      expect(idle).toBe(false);
      await release();
    }
    await waited;
    expect(runs).toEqual([[1, 2], [3, 4], [5]]);
    expect(await results).toEqual(fulfilled([2, 4, 6, 8, 10]));
  });

  it('spaces its runs while more items are expected', async () => {
    const spacing = { ms: 600_000, expectsMore: (waiting: number) => waiting < 3 };
    const { batcher, runs, submitAll } = doubling({ spacing });
    await batcher.submit(1);
    const early = submitAll([2, 3]);
    for (let round = 0; round < 5; round++) await loopIteration();
    expect(runs).toEqual([[1]]);
    expect(await batcher.submit(4)).toBe(8);
    expect(await early).toEqual(fulfilled([4, 6]));
    expect(runs).toEqual([[1], [2, 3, 4]]);
  });

  it('starts a run that has waited for as long as its runs are spaced', async () => {
    const { batcher, runs, submitAll } = doubling({ spacing: { ms: 20, expectsMore: () => true } });
    await batcher.submit(1);
    expect(await submitAll([2, 3])).toEqual(fulfilled([4, 6]));
    await batcher.submit(4);
    expect(runs).toEqual([[1], [2, 3], [4]]);
  });

  it('keeps order, results and limits for any input', async () => {
    const inputs = fc.record({
      items: fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 60, size: 'max' }),
      maxItems: fc.integer({ min: 1, max: 10 }),
      maxBytes: fc.integer({ min: 1, max: 100 }),
      concurrency: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(inputs, async ({ items, ...options }) => {
        const { batcher, runs, submitAll } = doubling({ ...options, sizeOf: (item) => item });
        expect(await submitAll(items)).toEqual(fulfilled(items.map((item) => 2 * item)));
        await batcher.idle();
        expect(runs.flat()).toEqual(items);
        const bytes = (run: number[]) => run.reduce((sum, item) => sum + item, 0);
        expect(runs.filter((run) => run.length > options.maxItems)).toEqual([]);
        expect(runs.filter((run) => run.length > 1 && bytes(run) > options.maxBytes)).toEqual([]);
      }),
    );
  });

  it('rejects items and bytes beyond those that may wait, and accepts new ones afterwards', async () => {
    const { batcher, submitAll, hold, release } = doubling({
      ...{ maxWaiting: 3, maxWaitingBytes: 10, sizeOf: (item: number) => item },
    });
    hold();
    const first = batcher.submit(9);
    await loopIteration();
    const results = submitAll([1, 9, 1, 0, 0]);
    await loopIteration();
    await release();
    await release();
    const rejected = { status: 'rejected', reason: expect.objectContaining({ code: 'unavailable' }) as unknown };
    expect(await results).toEqual([...fulfilled([2, 18]), rejected, ...fulfilled([0]), rejected]);
    expect(await first).toBe(18);
    const next = batcher.submit(10);
    await loopIteration();
    await release();
    expect(await next).toBe(20);
  });

  it('fails only the item that makes a run fail', async () => {
    const bad = new Error('13 is bad');
    const { runs, submitAll } = doubling({}, (items) => (items.includes(13) ? bad : undefined));
    const [first, second, third] = await submitAll([1, 13, 2]);
    expect([first, third]).toEqual(fulfilled([2, 4]));
    expect(second).toEqual({ status: 'rejected', reason: bad });
    expect(runs).toEqual([[1, 13, 2], [1], [13], [2]]);
  });

  it('does not retry the items of an unavailable store one by one, and recovers', async () => {
    let away = true;
    const { batcher, runs, submitAll } = doubling({}, () => (away ? unavailable : undefined));
    expect(await submitAll([1, 2, 3])).toEqual(Array(3).fill({ status: 'rejected', reason: unavailable }));
    expect(runs).toHaveLength(1);
    away = false;
    expect(await batcher.submit(1)).toBe(2);
  });
});
