import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

describe('POST /messages/batch responds 401 unauthorized and stores nothing', () => {
  const api = sharedApi();
  const account = accountOf(api);
  afterEach(async () => {
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });

  it.each([undefined, 'Bearer slc_unknown', 'Basic eDp5'])('to the authorization %s', async (authorization) => {
    expectProblem(await api.sendBatch(account, { headers: { authorization } }), 401, 'unauthorized');
  });

  it('before it reads the body', async () => {
    const answer = await api.sendBatch(account, { body: '{', headers: { authorization: 'Bearer no' } });
    expectProblem(answer, 401, 'unauthorized');
  });
});
