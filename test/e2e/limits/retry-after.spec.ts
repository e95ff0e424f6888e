import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer } from '../../support/http.js';
import { DAY, MINUTE, numberIn, setWindows, shown, type Windows } from '../../support/limits.js';
import { sharedApi, type Account } from '../../support/api.js';

describe('Retry-After of a refused request', () => {
  const api = sharedApi();

  const standing = async (windows: Windows) => {
    const holder = await api.signUp('free');
    await setWindows(api, holder, windows);
    return holder;
  };
  const refusal = async (holder: Account) => {
    const answer = await api.ask(holder);
    expect([answer.status, answer.body.code]).toEqual([429, 'rate_limit_exceeded']);
    return answer;
  };
  const retryAfter = (answer: Answer) => numberIn(answer, 'retry-after');
  /** The status of a retry after exactly as long as the response requires. */
  const retried = async (holder: Account, answer: Answer) => {
    await sleep(retryAfter(answer) * 1_000);
    return (await api.ask(holder)).status;
  };

  it('is enough, and less than a second too much, whichever window refused it', async () => {
    const cases: Windows[] = [
      { minuteUsed: 60, minuteLeft: 1_500 },
      { dayUsed: 1_000, dayLeft: 1_500 },
      { minuteUsed: 60, minuteLeft: 500, dayUsed: 1_000, dayLeft: 1_500 },
      { minuteUsed: 60, minuteLeft: 1_500, dayUsed: 1_000, dayLeft: 500 },
    ];
    const outcomes = cases.map(async (windows) => {
      const holder = await standing(windows);
      const first = await refusal(holder);
      return [retryAfter(first), await retried(holder, first)];
    });

    for (const [seconds, status] of await Promise.all(outcomes)) {
      expect(seconds).toBeLessThanOrEqual(2);
      expect(status).toBe(200);
    }
  });

  it('is enough as well from the cache, and at least 1', async () => {
    const holder = await standing({ minuteUsed: 60, minuteLeft: 1_200 });
    await refusal(holder);
    await sleep(700);
    const second = await refusal(holder);

    expect(retryAfter(second)).toBe(1);
    expect(await retried(holder, second)).toBe(200);
  });

  it.each([
    ['the minute', { minuteUsed: 60, dayUsed: 1 }, 60, MINUTE],
    ['the day', { minuteUsed: 1, dayUsed: 1_000 }, 1_000, DAY],
    ['the day, when both did and it ends later', { minuteUsed: 60, dayUsed: 1_000 }, 1_000, DAY],
    ['the minute, when both did and it ends later', { minuteUsed: 60, dayUsed: 1_000, dayLeft: 900 }, 60, MINUTE],
  ])('is that of the window that refused it: %s', async (_name, windows, limit, leftMs) => {
    const began = performance.now();
    const holder = await standing(windows);
    for (const answer of [await refusal(holder), await refusal(holder)]) {
      expect(shown(answer)).toMatchObject({ limit, remaining: 0 });
      // It counts down while the test runs.
      expect(retryAfter(answer)).toBeLessThanOrEqual(leftMs / 1_000);
      expect(retryAfter(answer)).toBeGreaterThanOrEqual((leftMs - Math.ceil(performance.now() - began)) / 1_000);
      expect(Math.abs(shown(answer).resetsIn - retryAfter(answer))).toBeLessThan(1.5);
    }
  });

  it('is in the problem document as well', async () => {
    const answer = await refusal(await standing({ minuteUsed: 60, minuteLeft: 30_000 }));
    const { body, headers } = answer;

    expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(body).toEqual({
      ...{ type: '/errors/rate_limit_exceeded', title: 'The rate limit was exceeded', status: 429 },
      detail: `The requests of your plan are used up. Retry after ${retryAfter(answer)} s.`,
      ...{ code: 'rate_limit_exceeded', requestId: headers['x-request-id'] },
    });
  });
});
