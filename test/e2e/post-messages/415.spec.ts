import { gzipSync } from 'node:zlib';
import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

describe('POST /messages responds 415 unsupported_encoding and stores nothing', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it.each(['', 'gzip', 'GZIP', 'deflate', 'br', 'unheard-of', 'identity, gzip'])(
    'to the encoding %s',
    async (encoding) => {
      const body = gzipSync('{"message":"x"}');
      const answer = await api.send(account, { body, headers: { 'content-encoding': encoding } });

      expectProblem(answer, 415, 'unsupported_encoding');
      expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
    },
  );

  it('to JSON that only claims to be compressed', async () => {
    expectProblem(await api.send(account, { headers: { 'content-encoding': 'gzip' } }), 415, 'unsupported_encoding');
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });
});
