import { Backpressure } from './backpressure.js';

const MAX_WAIT_MS = 500;
const STEP_MS = 250;

describe('Backpressure', () => {
  let now: number;
  let backpressure: Backpressure;
  let queues: { items: number; oldestMs: number; ran: (items: number) => void }[];

  beforeEach(() => {
    now = 1_000_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    backpressure = new Backpressure(MAX_WAIT_MS);
    queues = ['count', 'store', 'store'].map((stage) => {
      const observer = backpressure.observer(stage);
      const queue = { items: 0, oldestMs: 0, ran: observer.ran.bind(observer) };
      observer.watch({ items: () => queue.items, bytes: () => 0, oldestMs: () => queue.oldestMs });
      return queue;
    });
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const fill = (waiting: { items: number; oldestMs: number }, index = 0) => Object.assign(queues[index] ?? {}, waiting);

  /** What a check every 250 ms returns with these items waiting, while `left` items leave both queues between checks. */
  const checks = (waiting: { items: number; oldestMs: number }, { times = 8, left = 1_000, index = 0 } = {}) =>
    Array.from({ length: times }, () => {
      fill(waiting, index);
      now += STEP_MS;
      for (const queue of queues) queue.ran(left);
      return backpressure.isTooHigh;
    });
  /** Too high from the first check on, and reported after the grace of a second. */
  const persistent = [...Array<boolean>(5).fill(false), true, true, true];
  /** The same by the rate, which is known after two runs. */
  const persistentByRate = [false, ...persistent.slice(0, -1)];
  const overdue = { items: 1, oldestMs: MAX_WAIT_MS + 1 };

  it('is too high when the oldest item of any queue has waited too long, for more than a second', () => {
    expect(checks(overdue, { index: 1 })).toEqual(persistent);
  });

  it('is too high when the items ahead take too long at the current rate', () => {
    // 1,000 items leave in 250 ms, so 2,001 take 500.25 ms.
    expect(checks({ items: 2_001, oldestMs: 10 })).toEqual(persistentByRate);
  });

  it('adds the longest waits of the stages', () => {
    fill({ items: 1_000, oldestMs: 10 }, 1);
    fill({ items: 1_000, oldestMs: 10 }, 2);
    expect(checks({ items: 1_000, oldestMs: 10 })).toEqual(Array(8).fill(false));
    expect(checks({ items: 1_001, oldestMs: 10 })).toEqual(persistent);
  });

  it('measures the current rate, not an earlier one', () => {
    checks({ items: 1, oldestMs: 0 }, { left: 1_000_000 });
    expect(checks({ items: 2_001, oldestMs: 10 }, { times: 16 }).slice(-2)).toEqual([true, true]);
  });

  it('measures the rate only while items remain', () => {
    checks({ items: 0, oldestMs: 0 }, { left: 1 });
    expect(checks({ items: 1_000, oldestMs: 10 })).toEqual(Array(8).fill(false));
    checks({ items: 0, oldestMs: 0 }, { left: 1, times: 12 });
    expect(checks({ items: 1, oldestMs: 10 }, { left: 1 })).toEqual(Array(8).fill(false));
  });

  it('is not too high while items leave in time, or none wait', () => {
    expect([
      ...checks({ items: 2_000, oldestMs: MAX_WAIT_MS }),
      ...checks({ items: 0, oldestMs: 0 }),
      ...checks({ items: 0, oldestMs: 0 }, { left: 0, times: 12 }),
    ]).toEqual(Array(28).fill(false));
  });

  it('follows each check during an overload, and starts a new grace after a second without one', () => {
    checks(overdue);
    expect([...checks({ items: 0, oldestMs: 0 }, { times: 1 }), ...checks(overdue, { times: 1 })]).toEqual([
      false,
      true,
    ]);
    now += 1_001;
    expect(checks(overdue, { times: 2 })).toEqual([false, false]);
    now += 1_500;
    expect(checks(overdue, { times: 1 })).toEqual([false]);
  });
});
