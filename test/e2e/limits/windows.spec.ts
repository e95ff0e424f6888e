import { setTimeout as sleep } from 'node:timers/promises';
import { lines, postLines, RawConnection, type HttpResponse } from '../../support/http.js';
import { burst, DAY, MINUTE, numberIn, setWindows, shown, tally, type Windows } from '../../support/limits.js';
import { accountForEach, sharedApi, type Account } from '../../support/api.js';

describe('Retry-After of a refused request', () => {
  const api = sharedApi();

  const standing = async (windows: Windows) => {
    const holder = await api.signUp('free');
    await setWindows(api, holder, windows);
    return holder;
  };
  const refusal = async (holder: Account) => {
    const response = await api.ask(holder);
    expect([response.status, response.body.code]).toEqual([429, 'rate_limit_exceeded']);
    return response;
  };
  const retryAfter = (response: HttpResponse) => numberIn(response, 'retry-after');
  /** The status of a retry after exactly as long as the response requires. */
  const retried = async (holder: Account, response: HttpResponse) => {
    await sleep(retryAfter(response) * 1_000);
    return (await api.ask(holder)).status;
  };

  it('is enough, and less than a second too much, whichever window refused it', async () => {
    const cases: Windows[] = [
      { minuteUsed: 60, minuteLeft: 4_500 },
      { dayUsed: 1_000, dayLeft: 4_500 },
      { minuteUsed: 60, minuteLeft: 500, dayUsed: 1_000, dayLeft: 4_500 },
      { minuteUsed: 60, minuteLeft: 4_500, dayUsed: 1_000, dayLeft: 500 },
    ];
    const outcomes = cases.map(async (windows) => {
      const holder = await standing(windows);
      const first = await refusal(holder);
      return [retryAfter(first), await retried(holder, first)];
    });

    for (const [seconds, status] of await Promise.all(outcomes)) {
      expect(seconds).toBeLessThanOrEqual(5);
      expect(status).toBe(200);
    }
  });

  it('is enough as well from the cache, and at least 1', async () => {
    const untilLastSecond = async (): Promise<[Account, HttpResponse]> => {
      const holder = await standing({ minuteUsed: 60, minuteLeft: 2_500 });
      let response = await api.ask(holder);
      while (response.status === 429 && retryAfter(response) > 1) {
        await sleep(50);
        response = await api.ask(holder);
      }
      // A busy machine may have missed the last second.
      return response.status === 429 ? [holder, response] : untilLastSecond();
    };
    const [holder, response] = await untilLastSecond();
    expect(retryAfter(response)).toBe(1);
    expect(await retried(holder, response)).toBe(200);
  });

  it.each([
    ['the minute', { minuteUsed: 60, dayUsed: 1 }, 60, MINUTE],
    ['the day', { minuteUsed: 1, dayUsed: 1_000 }, 1_000, DAY],
    ['the day, when both did and it ends later', { minuteUsed: 60, dayUsed: 1_000 }, 1_000, DAY],
    ['the minute, when both did and it ends later', { minuteUsed: 60, dayUsed: 1_000, dayLeft: 900 }, 60, MINUTE],
  ])('is that of the window that refused it: %s', async (_name, windows, limit, leftMs) => {
    const began = performance.now();
    const holder = await standing(windows);
    for (const response of [await refusal(holder), await refusal(holder)]) {
      expect(shown(response)).toMatchObject({ limit, remaining: 0 });
      // It counts down while the test runs.
      expect(retryAfter(response)).toBeLessThanOrEqual(leftMs / 1_000);
      expect(retryAfter(response)).toBeGreaterThanOrEqual((leftMs - Math.ceil(performance.now() - began)) / 1_000);
      expect(Math.abs(shown(response).resetsIn - retryAfter(response))).toBeLessThan(10);
    }
  });

  it.each([
    ['the day has room for the rest only', 2, { minuteUsed: 59, minuteLeft: 1_500, dayUsed: 998, dayLeft: 4_500 }, 5],
    ['the day has room for the rest only', 10, { minuteUsed: 55, minuteLeft: 1_500, dayUsed: 990, dayLeft: 4_500 }, 5],
    [
      'the minute has room for the rest only',
      10,
      { minuteUsed: 50, minuteLeft: 4_500, dayUsed: 995, dayLeft: 1_500 },
      5,
    ],
    ['the day has room for all of it', 10, { minuteUsed: 55, minuteLeft: 1_500, dayUsed: 989, dayLeft: 60_000 }, 2],
  ])('is enough for a batch that was counted at the door, when %s: %i', async (_name, size, windows, seconds) => {
    const holder = await standing(windows);
    const batch = JSON.stringify({ messages: Array.from({ length: size }, () => ({ message: 'x' })) });
    const first = await api.ask(holder, 'POST /messages/batch', batch);
    expect([first.status, shown(first).remaining]).toEqual([429, 0]);
    expect(retryAfter(first)).toBeLessThanOrEqual(seconds);
    expect(Math.abs(shown(first).resetsIn - retryAfter(first))).toBeLessThan(2);

    await sleep(retryAfter(first) * 1_000);
    expect((await api.ask(holder, 'POST /messages/batch', batch)).status).toBe(202);
  });

  it('is in the problem document as well', async () => {
    const response = await refusal(await standing({ minuteUsed: 60, minuteLeft: 30_000 }));
    const { body, headers } = response;

    expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(body).toEqual({
      ...{ type: '/errors/rate_limit_exceeded', title: 'The rate limit was exceeded', status: 429 },
      detail: `The requests of your plan are used up. Retry after ${retryAfter(response)} s.`,
      ...{ code: 'rate_limit_exceeded', requestId: headers['x-request-id'] },
    });
  });
});

describe('The windows of an account', () => {
  const api = sharedApi();
  const holder = accountForEach(api, 'free');

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

    for (const response of [first, second]) {
      const reset = numberIn(response, 'x-ratelimit-reset');
      expect(reset).toBeGreaterThanOrEqual(Math.floor((before + MINUTE) / 1_000));
      // A slow response may round up by seconds; a window that began anew would have 60 s left below.
      expect(reset).toBeLessThanOrEqual(Math.ceil((after + MINUTE) / 1_000) + 5);
    }
    expect(first.headers.ratelimit).toMatch(/^"minute";r=59;t=(60|5\d), "day";r=999;t=86(400|39\d)$/);
    expect(second.headers.ratelimit).toMatch(/^"minute";r=58;t=5\d, "day";r=998;t=8639\d$/);
  });

  it.each([
    [202, '{"message":"x"}', 30_000, 59],
    [400, '{"message":""}', 30_000, 59],
    [202, '{"message":"x"}', 1_000, 60],
  ])('are shown as they are at the end of a slow request: %i', async (status, body, minuteLeft, remaining) => {
    await setWindows(api, holder, { minuteLeft });
    const endsAt = Date.now() + minuteLeft;
    const connection = await RawConnection.open(api.url);
    connection.write(postLines(holder.key, `Content-Length: ${body.length}`));
    await sleep(4_000);
    connection.write(body);
    const response = await connection.response();
    connection.close();

    expect([response.status, shown(response).remaining]).toEqual([status, remaining]);
    const resetsAt = minuteLeft > 4_000 ? endsAt : Date.now() + MINUTE;
    expect(numberIn(response, 'x-ratelimit-reset')).toBeLessThanOrEqual(Math.ceil(resetsAt / 1_000) + 1);
    expect(shown(response).resetsIn).toBeGreaterThan(0);
  });

  it('of an address are shown as they are at the end of a slow request', async () => {
    const { headers } = await api.ask(null, 'OPTIONS /account');
    const connection = await RawConnection.open(api.url);
    connection.write(
      lines('POST /accounts HTTP/1.1', 'Host: sluice', 'Content-Type: application/json', 'Content-Length: 2'),
    );
    await sleep(4_000);
    connection.write('{}');
    const response = await connection.response();
    connection.close();

    expect(response.status).toBe(400);
    const [before, after] = [Number(headers['x-ratelimit-reset']), numberIn(response, 'x-ratelimit-reset')];
    // The next window begins with a request, which may come some time after the end of the one before.
    const isNext = after >= before + MINUTE / 1_000 && after <= Math.ceil((Date.now() + MINUTE) / 1_000);
    expect(isNext ? before : after).toBe(before);
    expect(after).toBeGreaterThanOrEqual(Math.floor(Date.now() / 1_000));
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
