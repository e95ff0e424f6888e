import { accountForEach, expectProblem, sharedApi } from '../../support/api.js';

describe('POST /messages/batch responds 422 idempotency_key_reused and stores nothing', () => {
  const api = sharedApi();
  const account = accountForEach(api);

  const headers = { 'idempotency-key': 'key' };
  it.each([
    ['in another order', ['b', 'a']],
    ['with one more', ['a', 'b', 'b']],
    ['with one less', ['a']],
    ['joined differently', ['a","b']],
  ])('to the messages of the first batch %s', async (_name, messages) => {
    await api.sendBatch(account, { messages: ['a', 'b'], headers });
    expectProblem(await api.sendBatch(account, { messages, headers }), 422, 'idempotency_key_reused');
    expect(await api.stored(account)).toEqual({ messages: 2, keys: 1 });
  });

  it.each(['send', 'sendBatch'] as const)('when the key was used for the other route, first by %s', async (first) => {
    const second = first === 'send' ? 'sendBatch' : 'send';
    expect((await api[first](account, { headers })).status).toBe(202);
    expectProblem(await api[second](account, { headers }), 422, 'idempotency_key_reused');
    expect(await api.stored(account)).toEqual({ messages: 1, keys: 1 });
  });
});
