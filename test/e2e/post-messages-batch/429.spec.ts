import { DAY, REFUSED, setWindows, shown, tally } from '../../support/limits.js';
import { accountForEach, sharedApi } from '../../support/api.js';

describe('POST /messages/batch counts each of its messages', () => {
  const api = sharedApi();
  const holder = accountForEach(api, 'free');

  const send = (count: number, headers = {}) =>
    api.sendBatch(holder, { messages: Array<string>(count).fill('x'), headers });
  const used = async () => {
    const text = 'SELECT minute_used AS minute, day_used AS day FROM sluice.rate_limits WHERE account_id = $1';
    return (await api.sql<{ minute: number; day: number }>(text, [holder.id]))[0];
  };
  const stored = async () => (await api.stored(holder))?.messages;

  it.each([1, 60])('and reports what remains when all %d are counted', async (count) => {
    const response = await send(count);
    expect(response.status).toBe(202);
    expect(shown(response)).toMatchObject({ limit: 60, remaining: 60 - count });
    expect(response.headers.ratelimit).toMatch(
      new RegExp(`^"minute";r=${60 - count};t=\\d+, "day";r=${1_000 - count};t=\\d+$`),
    );
    expect(await used()).toEqual({ minute: count, day: count });
  });

  it('and responds 429 when they do not all fit: only the one on admission stays counted', async () => {
    await setWindows(api, holder, { minuteUsed: 55 });
    const refused = await send(6);

    expect(tally([refused])).toEqual({ [REFUSED]: 1 });
    expect(shown(refused)).toMatchObject({ limit: 60, remaining: 0 });
    const retryAfter = Number(refused.headers['retry-after']);
    const detail = `The batch does not fit into what remains of your plan. Retry after ${retryAfter} s.`;
    expect(refused.body.detail).toBe(detail);
    expect(retryAfter).toBeGreaterThan(50);
    expect(retryAfter).toBeLessThanOrEqual(60);
    expect(await used()).toEqual({ minute: 56, day: 1 });
    expect(await stored()).toBe(0);
    expect((await send(4)).status).toBe(202);
    expect(await used()).toEqual({ minute: 60, day: 5 });
  });

  it('and reports the end of the day when that is what refuses', async () => {
    await setWindows(api, holder, { dayUsed: 990, dayLeft: DAY / 2 });
    const refused = await send(20);
    expect(shown(refused)).toMatchObject({ limit: 1_000, remaining: 0 });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(DAY / 2_000 - 60);
  });

  it('but only one for a body that is refused', async () => {
    expect((await api.ask(holder, 'POST /messages/batch', '{')).status).toBe(400);
    expect((await send(0)).status).toBe(400);
    expect((await send(1, { 'idempotency-key': 'a b' })).status).toBe(400);
    expect(await used()).toEqual({ minute: 3, day: 3 });
  });

  it('and for a replay what the first request counted', async () => {
    const key = { 'idempotency-key': 'key' };
    await send(10, key);
    const replay = await send(10, key);
    expect(replay.headers['idempotent-replayed']).toBe('true');
    expect(shown(replay)).toMatchObject({ remaining: 40 });
    expect(await stored()).toBe(10);
  });

  it('and responds 429 on admission when nothing remains', async () => {
    await setWindows(api, holder, { minuteUsed: 60 });
    expect(tally([await send(1), await send(5)])).toEqual({ [REFUSED]: 2 });
    expect(await used()).toEqual({ minute: 60, day: 0 });
  });
});
