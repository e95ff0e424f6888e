import { gzipSync } from 'node:zlib';
import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

describe('POST /messages responds 415 unsupported_encoding and stores nothing', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it.each(['', 'gzip', 'GZIP', 'br', 'unheard-of', 'identity, gzip'])('to the encoding %s', async (encoding) => {
    const body = gzipSync('{"message":"x"}');
    const response = await api.send(account, { body, headers: { 'content-encoding': encoding } });

    expectProblem(response, 415, 'unsupported_encoding');
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });

  it('even if the body is not compressed', async () => {
    expectProblem(await api.send(account, { headers: { 'content-encoding': 'gzip' } }), 415, 'unsupported_encoding');
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });
});
