import { expectProblem, startTestApi, type TestAccount, type TestApi } from '../../support/api.js';

describe('POST /messages/batch answers 422 idempotency_key_reused and stores nothing', () => {
  let api: TestApi;
  let account: TestAccount;
  const headers = { 'idempotency-key': 'key' };

  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.stop());
  beforeEach(async () => {
    account = await api.signUp();
  });

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
