import { Backpressure } from './backpressure.js';

describe('Backpressure', () => {
  let now: number;
  const waiting = [0, 0];
  let backpressure: Backpressure;

  beforeEach(() => {
    now = 1_000_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    waiting.fill(0);
    backpressure = new Backpressure(500);
    for (const index of waiting.keys()) backpressure.watch(() => waiting[index] ?? 0);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** What is told while something comes every so many milliseconds and one queue's oldest has waited for so long. */
  const told = (oldestMs: number, { every = 500, times = 10, queue = 0 } = {}) =>
    Array.from({ length: times }, () => {
      waiting[queue] = oldestMs;
      const answer = backpressure.isTooHigh;
      now += every;
      return answer;
    });

  it('is too high when the oldest of any queue has waited for too long, for more than three seconds', () => {
    expect(told(501, { queue: 1 })).toEqual([...Array<boolean>(7).fill(false), true, true, true]);
  });

  it('is never too high while nothing waits for longer than it may, or nothing waits at all', () => {
    expect([...told(500), ...told(0)]).toEqual(Array(20).fill(false));
  });

  it('is not too high in between, as soon as what comes is in time', () => {
    told(501);
    expect([...told(0, { times: 1 }), ...told(501, { times: 1 })]).toEqual([false, true]);
  });

  it('begins anew after a second in which nothing waited for too long', () => {
    told(501);
    now += 1_001;
    expect(told(501, { times: 2 })).toEqual([false, false]);
  });

  it('does not take two hiccups for one that lasts', () => {
    told(501, { times: 1 });
    now += 3_500;
    expect(told(501, { times: 1 })).toEqual([false]);
  });
});
