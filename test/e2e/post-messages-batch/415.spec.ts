import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

describe('POST /messages/batch responds 415 unsupported_encoding and stores nothing', () => {
  const api = sharedApi();
  const account = accountOf(api);
  afterEach(async () => {
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });

  it.each(['gzip', 'br', 'identity, gzip'])('to the encoding %s', async (encoding) => {
    const answer = await api.sendBatch(account, { headers: { 'content-encoding': encoding } });
    expectProblem(answer, 415, 'unsupported_encoding');
  });
});
