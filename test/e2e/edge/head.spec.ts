import { accountOf, sharedApi } from '../../support/api.js';
import { lines, RawConnection, uncounted } from '../../support/http.js';

describe('HEAD gets the same response as GET, without the body', () => {
  const api = sharedApi();
  const account = accountOf(api);
  let id: string;
  beforeAll(async () => {
    id = (await api.sent(account)).id;
  });

  it.each([
    ['a list', '/messages', 200],
    ['a message', '/messages/ID', 200],
    ['a list with a bad query', '/messages?limit=0', 400],
    ['a request without a key', '/messages', 401],
    ['an unknown message', '/messages/any', 404],
    ['an unknown path', '/unknown', 404],
    ['a path without GET', '/accounts', 405],
    ['a broken path', '/%', 400],
  ])('for %s: %s is %i', async (_name, path, status) => {
    const headers = { 'x-request-id': 'same' };
    const ask = async (method: string) => {
      const route = `${method} ${path.replace('ID', id)}`;
      return api.ask(status === 401 ? null : account, route, undefined, headers);
    };
    const [get, head] = [await ask('GET'), await ask('HEAD')];

    expect(head.status).toBe(status);
    expect(get.bytes.length).toBeGreaterThan(0);
    expect(head.bytes).toHaveLength(0);
    expect(uncounted(head.headers)).toEqual(uncounted(get.headers));
  });

  it('and nothing follows its headers on the wire', async () => {
    const connection = await RawConnection.open(api.url);
    connection.write(lines('HEAD /unknown HTTP/1.1', 'Host: sluice', 'Connection: close'));

    expect((await connection.end()).split('\r\n\r\n')).toEqual([expect.stringMatching(/^HTTP\/1\.1 404 /), '']);
    connection.close();
  });
});
