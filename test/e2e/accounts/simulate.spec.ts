import { accountOf, expectProblem, sharedApi, statusesOf } from '../../support/api.js';

describe('POST /account/simulate', () => {
  const api = sharedApi();
  const account = accountOf(api, 'free');

  const post = (body: object | string, { key } = account) => api.ask(key, 'POST /account/simulate', body);
  const simulated = async (body: object, by = account) => {
    const response = await post(body, by);
    expect(response.status).toBe(200);
    return response.body;
  };
  const at = (times: readonly number[]) => ({ requests: times.map((time) => ({ at: time })) });

  it.each([
    ['nothing', { perMinute: 60, minutes: 1 }, { admitted: 60, refused: 0, firstRefusedAt: null }],
    ['a minute', { perMinute: 61, minutes: 1 }, { admitted: 60, refused: 1, firstRefusedAt: 59_016 }],
    ['two days', { perMinute: 1, minutes: 2_880 }, { admitted: 2_000, refused: 880, firstRefusedAt: 60_000_000 }],
  ])('responds 200 with what would be refused of a steady stream by %s', async (_name, body, summary) => {
    expect(await simulated(body)).toEqual({ ...summary, limits: { perMinute: 60, perDay: 1_000 } });
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
    ['perMinute', 'too many', { perMinute: 1_000_001, minutes: 1 }],
    ['minutes', '0', { perMinute: 1, minutes: 0 }],
    ['minutes', 'more than two days', { perMinute: 1, minutes: 2_881 }],
    ['requests', 'empty', { requests: [] }],
    ['requests', 'an object', { requests: {} }],
    ['requests', 'without a time', { requests: [{}] }],
    ['requests', 'bare numbers', { requests: [0] }],
    ['requests', 'before the start', { requests: [{ at: 0 }, { at: -1 }] }],
    ['requests', 'at fractions', { requests: [{ at: 0.5 }] }],
    ['requests', 'after more than a year', { requests: [{ at: 31_622_400_001 }] }],
    ['requests', 'too many', at(Array<number>(10_001).fill(0))],
  ])('responds 400 validation_failed when %s: %s', async (field, _is, body) => {
    const { errors } = expectProblem(await post(body, await api.signUp('free')), 400, 'validation_failed');
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

  it('responds 400 with each error', async () => {
    const { errors } = expectProblem(await post({ perMinute: 0, minutes: 0 }), 400, 'validation_failed');
    expect(errors).toMatchObject([{ pointer: '/perMinute' }, { pointer: '/minutes' }]);
  });

  it('responds 400 invalid_json to invalid JSON', async () => {
    expectProblem(await post('{'), 400, 'invalid_json');
  });
});
