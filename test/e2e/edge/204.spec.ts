import { sharedApi } from '../../support/api.js';
import { exchange, lines } from '../../support/http.js';

describe('OPTIONS responds 204', () => {
  const api = sharedApi();

  it.each([
    ['/messages', 'GET, HEAD, OPTIONS, POST'],
    ['/messages?limit=1', 'GET, HEAD, OPTIONS, POST'],
    ['/messages/any', 'GET, HEAD, OPTIONS'],
    ['/messages/batch', 'OPTIONS, POST'],
    ['/messages/any/cancel', 'OPTIONS, POST'],
    ['/messages/any/retry', 'OPTIONS, POST'],
    ['/accounts', 'OPTIONS, POST'],
  ])('to %s without a key, and allows %s', async (path, methods) => {
    const answer = await api.ask(null, `OPTIONS ${path}`);

    expect(answer.status).toBe(204);
    expect(answer.headers.allow?.split(', ').toSorted().join(', ')).toBe(methods);
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'x-request-id': expect.any(String) as string });
    expect(answer.headers).not.toHaveProperty('content-type');
    expect(answer.bytes).toHaveLength(0);
  });

  it('to * and allows every method of any path', async () => {
    const answer = await exchange(api.url, lines('OPTIONS * HTTP/1.1', 'Host: sluice'));

    expect(answer.status).toBe(204);
    expect(answer.headers.allow?.split(', ').toSorted()).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST']);
  });
});
