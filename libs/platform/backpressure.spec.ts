import { Backpressure } from './backpressure.js';

describe('Backpressure', () => {
  let now: number;
  let backpressure: Backpressure;
  let queues: { items: number; oldestMs: number; ran: (items: number) => void }[];

  beforeEach(() => {
    now = 1_000_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    backpressure = new Backpressure(500);
    queues = [0, 1].map(() => {
      const observer = backpressure.observer();
      const queue = { items: 0, oldestMs: 0, ran: observer.ran.bind(observer) };
      observer.watch({ items: () => queue.items, bytes: () => 0, oldestMs: () => queue.oldestMs });
      return queue;
    });
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const queue = (index = 0) => queues[index] ?? { items: 0, oldestMs: 0, ran: () => undefined };

  /** What is told while something comes every 250 ms and so much waits; meanwhile so many leave both queues. */
  const told = (waiting: { items: number; oldestMs: number }, { times = 8, left = 1_000, index = 0 } = {}) =>
    Array.from({ length: times }, () => {
      Object.assign(queue(index), waiting);
      now += 250;
      for (const one of queues) one.ran(left);
      return backpressure.isTooHigh;
    });
  const lasting = [...Array<boolean>(5).fill(false), true, true, true];
  /** The rate is known when something has left twice. */
  const lastingOnceKnown = [false, ...lasting.slice(0, -1)];

  it('is too high when the oldest of any queue has waited for too long, for more than a second', () => {
    expect(told({ items: 1, oldestMs: 501 }, { index: 1 })).toEqual(lasting);
  });

  it('is too high when what is ahead takes too long at the rate of late', () => {
    // 1,000 leave in 250 ms, so that 2,001 take 500.25 ms.
    expect(told({ items: 2_001, oldestMs: 10 })).toEqual(lastingOnceKnown);
  });

  it('adds up what one has to wait in both', () => {
    Object.assign(queue(1), { items: 1_000, oldestMs: 10 });
    expect(told({ items: 1_001, oldestMs: 10 })).toEqual(lastingOnceKnown);
  });

  it('goes by how fast they leave now, not by how fast they once did', () => {
    told({ items: 1, oldestMs: 0 }, { left: 1_000_000 });
    expect(told({ items: 2_001, oldestMs: 10 }, { times: 16 }).slice(-2)).toEqual([true, true]);
  });

  it('goes by how fast they leave while more waits, not by how few there are to leave', () => {
    told({ items: 0, oldestMs: 0 }, { left: 1 });
    expect(told({ items: 1_000, oldestMs: 10 }, { left: 1_000 })).toEqual(Array(8).fill(false));
    told({ items: 0, oldestMs: 0 }, { left: 1, times: 12 });
    expect(told({ items: 1, oldestMs: 10 }, { left: 1 })).toEqual(Array(8).fill(false));
  });

  it('is never too high while what comes is in time, or nothing waits at all', () => {
    expect([
      ...told({ items: 2_000, oldestMs: 500 }),
      ...told({ items: 0, oldestMs: 0 }),
      ...told({ items: 0, oldestMs: 0 }, { left: 0, times: 12 }),
    ]).toEqual(Array(28).fill(false));
  });

  it('is not too high in between, as soon as what comes is in time', () => {
    const long = { items: 1, oldestMs: 501 };
    told(long);
    expect([...told({ items: 0, oldestMs: 0 }, { times: 1 }), ...told(long, { times: 1 })]).toEqual([false, true]);
  });

  it('begins anew after a second in which nothing would have waited for too long', () => {
    told({ items: 1, oldestMs: 501 });
    now += 1_001;
    expect(told({ items: 1, oldestMs: 501 }, { times: 2 })).toEqual([false, false]);
  });

  it('does not take two hiccups for one that lasts', () => {
    told({ items: 1, oldestMs: 501 }, { times: 1 });
    now += 1_500;
    expect(told({ items: 1, oldestMs: 501 }, { times: 1 })).toEqual([false]);
  });
});
