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

  it('when the key was used for a single message, and the other way round', async () => {
    await api.send(account, { message: 'a', headers });
    expectProblem(await api.sendBatch(account, { messages: ['a'], headers }), 422, 'idempotency_key_reused');

    const other = { 'idempotency-key': 'other' };
    await api.sendBatch(account, { messages: ['a'], headers: other });
    expectProblem(await api.send(account, { message: 'a', headers: other }), 422, 'idempotency_key_reused');
    expect(await api.stored(account)).toEqual({ messages: 2, keys: 2 });
  });
});
