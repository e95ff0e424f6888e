import { databaseClock } from '#kernel/clock.js';
import { createLogger } from '../observability/logging.js';
import { Metrics } from '../observability/metrics.js';
import { ClockWatch } from './clock-watch.js';
import type { Database } from './database.js';

const EVERY_MS = 1_000;
const TOLERANCE_MS = 500;

describe('ClockWatch', () => {
  /** How far the clock of the process is ahead, and how long a query takes; null for a database that is away. */
  let aheadMs: number | null = 0;
  let queryMs = 0;
  let watch: ClockWatch;
  let changes: boolean[];

  beforeEach(() => {
    jest.useFakeTimers();
    [aheadMs, queryMs, changes] = [0, 0, []];
    databaseClock.aheadMs = 0;
    const query = () => {
      if (aheadMs === null) return Promise.reject(new Error('away'));
      jest.setSystemTime(Date.now() + queryMs / 2);
      const now = Date.now() - aheadMs;
      jest.setSystemTime(Date.now() + queryMs / 2);
      return Promise.resolve([{ now }]);
    };
    const options = { everyMs: EVERY_MS, toleranceMs: TOLERANCE_MS };
    watch = new ClockWatch({ query } as unknown as Database, options, new Metrics(), createLogger('silent', 'spec'));
    watch.onChange((isRight) => changes.push(isRight));
  });

  afterEach(() => jest.useRealTimers());

  it.each([
    [0, 0, true],
    [TOLERANCE_MS, 0, true],
    [TOLERANCE_MS + 1, 0, false],
    [-TOLERANCE_MS, 0, true],
    [-TOLERANCE_MS - 1, 0, false],
    // The time of a query is no difference of the clocks.
    [0, 100 * TOLERANCE_MS, true],
    [-TOLERANCE_MS, 100 * TOLERANCE_MS, true],
    [60_000, 4 * TOLERANCE_MS, false],
    [-60_000, 4 * TOLERANCE_MS, false],
  ])('with a clock %i ms ahead and a query of %i ms, the clock counts as right: %s', async (ahead, takes, isRight) => {
    [aheadMs, queryMs] = [ahead, takes];
    await watch.run();
    expect(watch.isRight).toBe(isRight);
  });

  it.each([
    [0, 0, 0, 0],
    [7_200_000, 0, 0, 7_200_000],
    [-7_200_000, 0, 0, -7_200_000],
    // Within the time of the query, nothing is known better than before.
    [7_200_000, 100, 0, 7_199_950],
    [-7_200_000, 100, 0, -7_199_950],
    [7_200_000, 5_000, 7_199_990, 7_199_990],
    [-7_200_000, 5_000, -7_199_990, -7_199_990],
    [7_200_000, 100, 7_000_000, 7_199_950],
    [0, 100, 7_200_000, 50],
  ])(
    'with a clock %i ms ahead, a query of %i ms and %i known so far, it is %i',
    async (ahead, takes, known, expected) => {
      [aheadMs, queryMs, databaseClock.aheadMs] = [ahead, takes, known];
      await watch.run();
      expect(databaseClock.aheadMs).toBe(expected);
      expect(databaseClock.now().getTime()).toBe(Date.now() - expected);
    },
  );

  it('reports each change once, and none while the database is unavailable', async () => {
    await watch.run();
    for (const ahead of [60_000, 60_000, null, -60_000, 0, null, 0]) {
      aheadMs = ahead;
      await watch.run();
    }
    expect(changes).toEqual([false, true]);
  });
});
