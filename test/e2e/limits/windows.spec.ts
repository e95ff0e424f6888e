import { setTimeout as sleep } from 'node:timers/promises';
import { burst, MINUTE, numberIn, setWindows, shown, tally } from '../../support/limits.js';
import { sharedApi, type Account } from '../../support/api.js';

describe('The windows of an account', () => {
  const api = sharedApi();
  let holder: Account;
  beforeEach(async () => {
    holder = await api.signUp('free');
  });

  const used = async () => {
    const columns = 'minute_used AS minute, day_used AS day';
    const rows = await api.sql(`SELECT ${columns} FROM sluice.rate_limits WHERE account_id = $1`, [holder.id]);
    return rows[0];
  };

  it('start with the first request that they count, and end 60 s and 86,400 s after it', async () => {
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
    expect(first.headers.ratelimit).toBe('"minute";r=59;t=60, "day";r=999;t=86400');
    expect(second.headers.ratelimit).toMatch(/^"minute";r=58;t=5[89], "day";r=998;t=8639[89]$/);
  });

  it('count what is admitted, whatever the outcome', async () => {
    const outcomes: string[] = [];
    for (const route of [
      'GET /account',
      'OPTIONS /account',
      'GET /unknown',
      'DELETE /account',
      'GET /admin/accounts',
    ]) {
      const response = await api.ask(holder, route);
      outcomes.push(`${response.status}: ${shown(response).remaining}`);
    }
    expect(outcomes).toEqual(['200: 59', '204: 58', '404: 57', '405: 56', '401: 55']);
    const invalid = await api.ask(holder, 'POST /messages', '{');
    expect([invalid.status, shown(invalid).remaining]).toEqual([400, 54]);
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
});
