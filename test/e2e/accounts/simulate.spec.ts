import fc from 'fast-check';
import { accountOf, expectProblem, sharedApi, statusesOf } from '../../support/api.js';

interface Verdict {
  readonly at: number;
  readonly admitted: boolean;
}

/** What the plans promise, said once more and as plainly as can be. */
function expected(times: readonly number[], limits: { perMinute: number; perDay: number }): Verdict[] {
  const windows = [
    { length: 60_000, limit: limits.perMinute, from: null as number | null, used: 0 },
    { length: 86_400_000, limit: limits.perDay, from: null as number | null, used: 0 },
  ];
  return times
    .toSorted((a, b) => a - b)
    .map((at) => {
      for (const window of windows) {
        if (window.from !== null && at >= window.from + window.length) Object.assign(window, { from: null, used: 0 });
      }
      const admitted = windows.every(({ used, limit }) => used < limit);
      for (const window of admitted ? windows : []) {
        window.from ??= at;
        window.used++;
      }
      return { at, admitted };
    });
}

describe('POST /account/simulate', () => {
  const api = sharedApi();
  const account = accountOf(api, 'free');

  const post = (body: object | string, { key } = account) => api.ask(key, 'POST /account/simulate', body);
  const simulated = async (body: object, by = account) => {
    const answer = await post(body, by);
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const at = (times: readonly number[]) => ({ requests: times.map((time) => ({ at: time })) });
  const free = { perMinute: 60, perDay: 1_000 };

  it('responds 200 when nothing would be refused', async () => {
    const summary = { admitted: 60, refused: 0, firstRefusedAt: null, limits: free };
    expect(await simulated({ perMinute: 60, minutes: 1 })).toEqual(summary);
  });

  it.each([
    ['a minute', { perMinute: 61, minutes: 1 }, { admitted: 60, refused: 1, firstRefusedAt: 59_016 }],
    ['each minute', { perMinute: 120, minutes: 3 }, { admitted: 180, refused: 180, firstRefusedAt: 30_000 }],
    ['a day', { perMinute: 50, minutes: 30 }, { admitted: 1_000, refused: 500, firstRefusedAt: 1_200_000 }],
    ['two days', { perMinute: 1, minutes: 2_880 }, { admitted: 2_000, refused: 880, firstRefusedAt: 60_000_000 }],
  ])('responds 200 with what would be refused of a steady stream in %s', async (_name, body, summary) => {
    expect(await simulated(body)).toEqual({ ...summary, limits: free });
  });

  it('responds 200 with a verdict on each request, in the order of their times', async () => {
    const own = await api.signUp({ perMinute: 2, perDay: 4 });
    const { requests, ...summary } = await simulated(at([60_000, 0, 59_999, 1, 60_001, 60_002, 86_400_000]), own);

    const times = [0, 1, 59_999, 60_000, 60_001, 60_002, 86_400_000];
    const admitted = [true, true, false, true, true, false, true];
    expect(requests).toEqual(times.map((time, index) => ({ at: time, admitted: admitted[index] })));
    const limits = { perMinute: 2, perDay: 4 };
    expect(summary).toEqual({ admitted: 5, refused: 2, firstRefusedAt: 59_999, limits });
  });

  it('responds 200 by the rules of the windows, whatever the times', async () => {
    const limits = { perMinute: 40, perDay: 90 };
    const own = await api.signUp(limits);
    const time = fc.oneof(fc.nat(200_000), fc.constantFrom(0, 59_999, 60_000, 60_001, 86_399_999, 86_400_000));
    for (const times of fc.sample(fc.array(time, { minLength: 1, maxLength: 300 }), 20)) {
      const { requests, admitted } = await simulated(at(times), own);
      expect(requests).toEqual(expected(times, limits));
      expect(admitted).toBe(expected(times, limits).filter((verdict) => verdict.admitted).length);
    }
  });

  it('responds 200 with what really happens', async () => {
    const own = await api.signUp({ perMinute: 6, perDay: 100 });
    const { admitted } = await simulated(at(Array<number>(10).fill(0)), own);
    const rest = await Promise.all(Array.from({ length: 9 }, () => api.ask(own.key, 'GET /account')));

    expect(admitted).toBe(6);
    // This request was one of them.
    expect(statusesOf(rest).filter((status) => status === 200)).toHaveLength(5);
  });

  it('counts as one request, and sends nothing', async () => {
    const own = await api.signUp('free');
    await simulated({ perMinute: 100, minutes: 100 }, own);
    await simulated(at(Array<number>(10_000).fill(31_622_400_000)), own);
    await post({}, own);
    const { minute, day } = (await api.ask(own.key, 'GET /account/usage')).body;

    expect(minute).toMatchObject({ used: 4 });
    expect(day).toMatchObject({ used: 4 });
    expect(await api.sql('SELECT FROM sluice.messages WHERE account_id = $1', [account.id])).toEqual([]);
  });

  it.each([
    ['perMinute', '0', { perMinute: 0, minutes: 1 }],
    ['perMinute', 'a fraction', { perMinute: 1.5, minutes: 1 }],
    ['perMinute', 'a text', { perMinute: '60', minutes: 1 }],
    ['perMinute', 'too many', { perMinute: 1_000_001, minutes: 1 }],
    ['minutes', '0', { perMinute: 1, minutes: 0 }],
    ['minutes', 'negative', { perMinute: 1, minutes: -1 }],
    ['minutes', 'more than two days', { perMinute: 1, minutes: 2_881 }],
    ['minutes', 'an array', { perMinute: 1, minutes: [1] }],
    ['requests', 'empty', { requests: [] }],
    ['requests', 'an object', { requests: {} }],
    ['requests', 'a text', { requests: 'now' }],
    ['requests', 'without a time', { requests: [{}] }],
    ['requests', 'null', { requests: [null] }],
    ['requests', 'bare numbers', { requests: [0] }],
    ['requests', 'before the start', { requests: [{ at: 0 }, { at: -1 }] }],
    ['requests', 'at fractions', { requests: [{ at: 0.5 }] }],
    ['requests', 'at texts', { requests: [{ at: '0' }] }],
    ['requests', 'after more than a year', { requests: [{ at: 31_622_400_001 }] }],
    ['requests', 'too many', at(Array<number>(10_001).fill(0))],
  ])('responds 400 validation_failed when %s: %s', async (field, _is, body) => {
    const own = await api.signUp('free');
    const { errors } = expectProblem(await post(body, own), 400, 'validation_failed');
    expect(errors).toEqual([
      { pointer: `/${field}`, detail: expect.stringMatching(`^${field} must be .*\\.$`) as string },
    ]);
  });

  it.each([
    ['nothing', {}],
    ['perMinute alone', { perMinute: 60 }],
    ['minutes alone', { minutes: 1 }],
    ['more requests than it simulates', { perMinute: 1_000, minutes: 1_001 }],
  ])('responds 400 validation_failed to %s', async (_name, body) => {
    const { errors } = expectProblem(await post(body, await api.signUp('free')), 400, 'validation_failed');
    expect(errors).toEqual([{ pointer: '', detail: expect.stringMatching(/^\S.*\.$/) as string }]);
  });

  it('responds 400 with all that is wrong', async () => {
    const { errors } = expectProblem(await post({ perMinute: 0, minutes: 0 }), 400, 'validation_failed');
    expect(errors).toMatchObject([{ pointer: '/perMinute' }, { pointer: '/minutes' }]);
  });

  it.each(['', '{', '{"perMinute":1'])('responds 400 invalid_json to %p', async (body) => {
    expectProblem(await post(body), 400, 'invalid_json');
  });
});
