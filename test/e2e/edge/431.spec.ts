import { accountOf, expectProblem, sharedApi } from '../../support/api.js';
import { exchange, lines } from '../../support/http.js';

describe('headers or a path of more than 16 KiB get 431 headers_too_large', () => {
  const api = sharedApi();
  const account = accountOf(api);

  const get = (path: string, ...more: string[]) =>
    exchange(api.url, lines(`GET ${path} HTTP/1.1`, 'Host: sluice', `Authorization: Bearer ${account.key}`, ...more));

  it.each([
    ['a header', '/messages', [`X-Large: ${'a'.repeat(16_384)}`]],
    ['many headers', '/messages', Array.from({ length: 1_000 }, (_, index) => `X-Header-${index}: value`)],
    ['a header of 1 MB', '/messages', [`X-Large: ${'a'.repeat(1_000_000)}`]],
    ['an id', `/messages/${'a'.repeat(16_384)}`, []],
    ['a query', `/messages?cursor=${'a'.repeat(16_384)}`, []],
    ['an unknown path', `/${'a'.repeat(16_384)}`, []],
  ])('%s', async (_name, path, headers) => {
    expectProblem(await get(path, ...headers), 431, 'headers_too_large');
  });

  it('but not 15,000 bytes', async () => {
    expect((await get('/messages', `X-Large: ${'a'.repeat(15_000)}`)).status).toBe(200);
    expect((await get('/messages', ...Array.from({ length: 700 }, () => 'X-Header: value'))).status).toBe(200);
  });
});
