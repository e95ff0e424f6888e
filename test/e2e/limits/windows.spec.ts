import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer } from '../../support/http.js';
import { burst, DAY, MINUTE, numberIn, pass, setWindows, shown, tally } from '../../support/limits.js';
import { OPERATOR, sharedApi, type Account } from '../../support/api.js';

describe('the windows of an account', () => {
  const api = sharedApi();
  let holder: Account;
  beforeEach(async () => {
    holder = await api.signUp('free');
  });

  const policy = ({ headers }: Answer) => headers['ratelimit-policy'];
  const state = ({ headers }: Answer) => headers.ratelimit;
  const used = async () => {
    const columns = 'minute_used AS minute, day_used AS day';
    const rows = await api.sql(`SELECT ${columns} FROM sluice.rate_limits WHERE account_id = $1`, [holder.id]);
    return rows[0];
  };

  it('begin with the first request that they count, and end 60 s and 86,400 s after it', async () => {
    const before = Date.now();
    const first = await api.ask(holder);
    const after = Date.now();
    await sleep(1_100);
    const second = await api.ask(holder);

    for (const answer of [first, second]) {
      const reset = numberIn(answer, 'x-ratelimit-reset');
      expect(reset).toBeGreaterThanOrEqual(Math.floor((before + MINUTE) / 1_000));
      expect(reset).toBeLessThanOrEqual(Math.ceil((after + MINUTE) / 1_000));
    }
    expect(state(first)).toBe('"minute";r=59;t=60, "day";r=999;t=86400');
    expect(state(second)).toMatch(/^"minute";r=58;t=5[89], "day";r=998;t=8639[89]$/);
  });

  it('begin anew, each on its own, when they have ended', async () => {
    await setWindows(api, holder, { minuteUsed: 7, dayUsed: 70 });
    await pass(api, holder, MINUTE);
    expect(state(await api.ask(holder))).toBe('"minute";r=59;t=60, "day";r=929;t=86340');

    await pass(api, holder, DAY - MINUTE);
    expect(state(await api.ask(holder))).toBe('"minute";r=59;t=60, "day";r=999;t=86400');
  });

  it.each([
    ['free', '"minute";q=60;w=60, "day";q=1000;w=86400', 60],
    ['pro', '"minute";q=300;w=60, "day";q=10000;w=86400', 300],
    ['business', '"minute";q=1000;w=60, "day";q=100000;w=86400', 1_000],
  ])('are those of the plan %s', async (plan, both, perMinute) => {
    await api.ask(OPERATOR, `PATCH /admin/accounts/${holder.id}`, { plan });
    const answer = await api.ask(holder);

    expect(policy(answer)).toBe(both);
    expect(shown(answer)).toMatchObject({ limit: perMinute, remaining: perMinute - 1 });
  });

  it.each([
    ['the minute, when fewer requests remain in it', { minuteUsed: 50, dayUsed: 980 }, 60, 9, MINUTE],
    ['the day, when fewer requests remain in it', { minuteUsed: 10, dayUsed: 980 }, 1_000, 19, DAY],
    ['the day, which resets later, when they tie', { minuteUsed: 50, dayUsed: 990 }, 1_000, 9, DAY],
    ['the minute, when it resets later and they tie', { minuteUsed: 50, dayUsed: 990, dayLeft: 9_000 }, 60, 9, MINUTE],
  ])('are told by X-RateLimit-* as one: %s', async (_name, windows, limit, remaining, leftMs) => {
    await setWindows(api, holder, windows);
    const answer = await api.ask(holder);
    const { resetsIn, ...others } = shown(answer);

    expect(others).toEqual({ limit, remaining });
    expect(resetsIn).toBeGreaterThan(leftMs / 1_000 - 2);
    expect(resetsIn).toBeLessThanOrEqual(leftMs / 1_000 + 1);
  });

  it('reset in the future, however little is left of them', async () => {
    for (let left = 2_000; left > 0; left -= 200) {
      await setWindows(api, holder, { minuteLeft: left, dayLeft: left });
      const sentAt = Date.now() / 1_000;
      const answer = await api.ask(holder);
      const moments = [...(state(answer) ?? '').matchAll(/t=(\d+)/g)].map(([, seconds]) => Number(seconds));

      expect(numberIn(answer, 'x-ratelimit-reset')).toBeGreaterThan(sentAt);
      expect(Math.min(...moments)).toBeGreaterThanOrEqual(1);
    }
  });

  it('count what is admitted, whatever comes of it', async () => {
    const outcomes = [
      await api.ask(holder),
      await api.ask(holder, 'OPTIONS /account'),
      await api.ask(holder, 'GET /unknown'),
      await api.ask(holder, 'DELETE /account'),
      await api.ask(holder, 'POST /messages', '{'),
      await api.ask(holder, 'GET /admin/accounts'),
    ];

    expect(outcomes.map(({ status }) => status)).toEqual([200, 204, 404, 405, 400, 401]);
    expect(outcomes.map((answer) => shown(answer).remaining)).toEqual([59, 58, 57, 56, 55, 54]);
    expect(await used()).toEqual({ minute: 6, day: 6 });
  });

  it('count nothing of what is refused', async () => {
    await setWindows(api, holder, { minuteUsed: 58, dayUsed: 100 });
    expect(tally(await burst([api], holder, 40))).toEqual({ 200: 2, '429 rate_limit_exceeded': 38 });
    expect(await used()).toEqual({ minute: 60, day: 102 });

    await setWindows(api, holder, { minuteUsed: 5, dayUsed: 1_000 });
    expect(tally(await burst([api], holder, 40))).toEqual({ '429 rate_limit_exceeded': 40 });
    expect(await used()).toEqual({ minute: 5, day: 1_000 });
  });

  it('keep what was used when the plan changes, up and down', async () => {
    await setWindows(api, holder, { minuteUsed: 50, dayUsed: 500 });
    await api.ask(OPERATOR, `PATCH /admin/accounts/${holder.id}`, { plan: 'pro' });
    expect(state(await api.ask(holder))).toBe('"minute";r=249;t=60, "day";r=9499;t=86400');

    await api.ask(OPERATOR, `PATCH /admin/accounts/${holder.id}`, {
      plan: 'enterprise',
      limits: { perMinute: 40, perDay: 10_000 },
    });
    const over = await api.ask(holder);
    expect(tally([over])).toEqual({ '429 rate_limit_exceeded': 1 });
    expect(shown(over)).toMatchObject({ limit: 40, remaining: 0 });

    await api.ask(OPERATOR, `PATCH /admin/accounts/${holder.id}`, {
      plan: 'enterprise',
      limits: { perMinute: 52, perDay: 10_000 },
    });
    await sleep(1_000);
    expect(shown(await api.ask(holder))).toMatchObject({ limit: 52, remaining: 0 });
  });

  it('hold for a request of two APIs alike within a second of a change', async () => {
    const other = await api.join();
    await burst([api, other], holder, 4);
    await api.ask(OPERATOR, `PATCH /admin/accounts/${holder.id}`, { plan: 'pro' });
    await sleep(1_000);

    expect((await burst([api, other], holder, 4)).map((answer) => shown(answer).limit)).toEqual([300, 300, 300, 300]);
  });
});
