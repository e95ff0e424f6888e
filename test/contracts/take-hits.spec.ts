import fc from 'fast-check';
import { TAKE_HITS, type HitResult } from '#rate-limiting/adapters/postgres/take-hits.js';
import { take, UNUSED, WINDOW_MS, type Window, type WindowName } from '#rate-limiting/windows.js';
import { Limiter } from '../support/limiter.js';

const START = 1_800_000_000_000;

/** What happens to an account: its limits change, the clock moves, by accident even back, and it wants to pass. */
const step = fc.record({
  limits: fc.option(
    fc.record({ perMinute: fc.integer({ min: 1, max: 20 }), perDay: fc.integer({ min: 1, max: 60 }) }),
    {
      freq: 5,
    },
  ),
  move: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 70_000 }) },
    { weight: 2, arbitrary: fc.constantFrom(0, 59_999, 60_000, 60_001, 86_399_999, 86_400_000) },
    { weight: 1, arbitrary: fc.integer({ min: -200_000_000, max: 200_000_000 }) },
  ),
  count: fc.integer({ min: 0, max: 25 }),
  whole: fc.boolean(),
});

describe('sluice.take_hits', () => {
  let limiter: Limiter;

  beforeAll(async () => {
    limiter = await Limiter.open();
    const [row] = await limiter.sql<{ text: string }>("SELECT pg_get_functiondef('sluice.take_hits'::regproc) AS text");
    const [before = '', after, ...more] = row?.text.split('clock_timestamp()') ?? [];
    expect([typeof after, more]).toEqual(['string', []]);
    await limiter.sql(`${before}to_timestamp(current_setting('test.now')::bigint / 1000.0)${after ?? ''}`);
  });
  afterAll(() => limiter.close());

  /** What the function says at a moment. */
  const ask = async (accountId: string, now: number, count: number, whole: boolean) => {
    await limiter.sql("SELECT set_config('test.now', $1, false)", [String(now)]);
    const ban = [0, 1_000_000_000, 1_000, 1_000];
    // Whatever the epoch: limits change here.
    const values = [[accountId], ['key'], [-1], [count], [whole], [0], ...ban];
    const [result] = await limiter.sql<HitResult & Record<string, unknown>>(TAKE_HITS, values);
    if (result === undefined) throw new Error('There is no result.');
    const told = (used: number, leftMs: number): Window => ({ used, endsAt: now + leftMs });
    return {
      admitted: result.admitted,
      minute: told(result.minute_used, result.minute_left_ms),
      day: told(result.day_used, result.day_left_ms),
    };
  };

  it('decides as the rules do, whatever happens', async () => {
    const schedules = fc.array(step, { minLength: 1, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(schedules, async (steps) => {
        let limits = { perMinute: 10, perDay: 30 };
        const { accountId } = await limiter.account(limits.perMinute, limits.perDay);
        let windows = UNUSED;
        let now = START;
        for (const { move, count, whole, ...change } of steps) {
          now += move;
          if (change.limits !== null) {
            limits = change.limits;
            await limiter.sql('UPDATE sluice.accounts SET per_minute = $2, per_day = $3 WHERE id = $1', [
              ...[accountId, limits.perMinute, limits.perDay],
            ]);
          }
          const taken = take(windows, limits, count, now, whole);
          windows = taken.windows;
          // One that has not begun would end a whole length from now.
          const told = (name: WindowName) => {
            const { used, endsAt } = windows[name];
            return { used, endsAt: endsAt === 0 ? now + WINDOW_MS[name] : endsAt };
          };
          expect(await ask(accountId, now, count, whole)).toEqual({
            ...{ admitted: taken.admitted, minute: told('minute'), day: told('day') },
          });
        }
      }),
      { numRuns: 80 },
    );
  });
});
