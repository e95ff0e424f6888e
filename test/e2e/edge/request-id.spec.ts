import { accountOf, sharedApi } from '../../support/api.js';

describe('X-Request-Id', () => {
  const api = sharedApi();
  const account = accountOf(api);

  const idFor = async (id: string | string[] | undefined) =>
    (await api.ask(account, 'GET /messages', undefined, { 'x-request-id': id })).headers['x-request-id'] ?? '';

  it.each(['a', '0', '-._', 'Az09.-_', 'a'.repeat(128)])('is that of the caller: %s', async (id) => {
    expect(await idFor(id)).toBe(id);
  });

  it.each([
    ['is empty', ''],
    ['has 129 characters', 'a'.repeat(129)],
    ['holds a space', 'a b'],
    ['holds a comma', 'a,b'],
    ['holds a slash', 'a/b'],
    ['holds markup', '<b>'],
    ['holds characters beyond ASCII', 'é'],
    ['comes twice', ['a', 'b']],
  ])('is a new one when that of the caller %s', async (_name, id) => {
    expect(await idFor(id)).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('is a new one for each request without any', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => idFor(undefined)));
    expect(new Set(ids).size).toBe(10);
  });

  it.each([
    ['202', 'POST', '/messages', '{"message":"x"}'],
    ['400', 'POST', '/messages', '{'],
    ['204', 'OPTIONS', '/messages', ''],
    ['404', 'GET', '/unknown', ''],
    ['405', 'PUT', '/messages', ''],
    ['400', 'GET', '/%', ''],
  ])('is that of the caller on a %s as well, and in its problem', async (expected, method, path, sent) => {
    const { status, headers, bytes } = await api.ask(account, `${method} ${path}`, sent, { 'x-request-id': 'mine' });

    expect([status, headers['x-request-id']]).toEqual([Number(expected), 'mine']);
    if (status >= 400) expect(bytes.toString()).toContain('"requestId":"mine"');
  });
});
