import { accountOf, sharedApi } from '../../support/api.js';
import { lines, RawConnection, uncounted } from '../../support/http.js';

describe('HEAD gets the same response as GET, without the body', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it.each([
    ['a list', '/messages', 200],
    ['a list with a bad query', '/messages?limit=0', 400],
    ['an unknown message', '/messages/any', 404],
    ['an unknown path', '/unknown', 404],
    ['a path without GET', '/accounts', 405],
    ['a broken path', '/%', 400],
  ])('for %s: %s is %i', async (_name, path, status) => {
    const headers = { 'x-request-id': 'same' };
    const get = await api.ask(account, `GET ${path}`, undefined, headers);
    const head = await api.ask(account, `HEAD ${path}`, undefined, headers);

    expect(head.status).toBe(status);
    expect(get.bytes.length).toBeGreaterThan(0);
    expect(head.bytes).toHaveLength(0);
    expect(uncounted(head.headers)).toEqual(uncounted(get.headers));
  });

  it('for a message', async () => {
    const { id } = await api.sent(account);
    const head = await api.ask(account, `HEAD /messages/${id}`);

    expect(head.status).toBe(200);
    expect(Number(head.headers['content-length'])).toBeGreaterThan(100);
    expect(head.bytes).toHaveLength(0);
  });

  it('for a caller without a key, which is 401', async () => {
    const head = await api.ask(null, 'HEAD /messages');

    expect(head.status).toBe(401);
    expect(head.headers['www-authenticate']).toBe('Bearer realm="sluice"');
    expect(head.bytes).toHaveLength(0);
  });

  it('and nothing follows its headers on the wire', async () => {
    const connection = await RawConnection.open(api.url);
    connection.write(lines('HEAD /unknown HTTP/1.1', 'Host: sluice', 'Connection: close'));

    expect((await connection.end()).split('\r\n\r\n')).toEqual([expect.stringMatching(/^HTTP\/1\.1 404 /), '']);
    connection.close();
  });
});
