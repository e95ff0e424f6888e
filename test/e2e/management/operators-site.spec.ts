import { setTimeout as sleep } from 'node:timers/promises';
import { accountForEach, expectProblem, joinedApi, OPERATOR, sharedApi, type TestApi } from '../../support/api.js';
import { callUndocumented, RawConnection, type Call } from '../../support/http.js';
import { until } from '../../support/processes.js';

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const AUTHORIZED = { authorization: `Bearer ${OPERATOR.key}` };
const NOTHING_HERE = '{"error":"There is no resource at this path."}';

describe('The management port of an API', () => {
  const api = sharedApi();
  const withoutKey = joinedApi(api, { ADMIN_API_KEY: '' });
  const withoutPortal = joinedApi(api, { PORTAL: 'off' });
  const account = accountForEach(api, { perMinute: 9, perDay: 99 });

  const ask = (path: string, request: Omit<Call, 'path'> = {}, of: TestApi = api) =>
    callUndocumented(of.managementUrl, { path, ...request });
  const admin = (method: string, path: string, body?: string) =>
    ask(path, {
      method,
      headers: { ...AUTHORIZED, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body }),
    });
  const portal = () => callUndocumented(api.url, { headers: BROWSER });
  const filesOf = (html: string) => [...html.matchAll(/(?:src|href)="(\/assets[^"]+)"/g)].map(([, path = '']) => path);

  it('serves the page for operators to browsers, with nothing inline, and its files', async () => {
    const page = await ask('/', { headers: BROWSER });
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({
      ...{ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' },
      ...{ 'referrer-policy': 'no-referrer', 'content-type': 'text/html; charset=utf-8' },
      'content-security-policy': (await portal()).headers['content-security-policy'],
    });
    const html = page.bytes.toString();
    expect(html).not.toMatch(/<script(?![^>]+src=)|<style|style=| on\w+=/);
    const files = filesOf(html);
    expect(files.some((path) => path.endsWith('.js'))).toBe(true);
    for (const path of files) {
      const { status, headers } = await ask(path);
      expect({ path, status, cache: headers['cache-control'], nosniff: headers['x-content-type-options'] }).toEqual({
        ...{ path, status: 200, cache: 'public, max-age=31536000, immutable', nosniff: 'nosniff' },
      });
    }
  });

  it('makes links to the portal, which the port of the API serves', async () => {
    const response = await admin(
      'POST',
      `/admin/accounts/${account.id}/portal-links`,
      JSON.stringify({ scopes: ['messages:read'] }),
    );
    const { url } = JSON.parse(response.bytes.toString()) as { url: string };
    expect(new URL(url).port).toBe(new URL(api.url).port);
  });

  it('serves nothing else: neither to programs nor by other names', async () => {
    for (const path of [
      '/',
      '/operators.html',
      '/index.html',
      '/assets/portal/operators.html',
      '/messages',
      '/admin',
    ]) {
      const response = await ask(path, { headers: path === '/' ? { accept: 'application/json' } : BROWSER });
      expect([path, response.status, response.bytes.toString()]).toEqual([path, 404, NOTHING_HERE]);
    }
  });

  it('is the only one that serves it', async () => {
    const own = filesOf((await ask('/', { headers: BROWSER })).bytes.toString());
    const theirs = filesOf((await portal()).bytes.toString());
    const others = own.filter((path) => !theirs.includes(path));
    expect(others).not.toEqual([]);
    for (const path of ['/operators', '/operators.html', ...others]) {
      expectProblem(await api.call({ path, headers: BROWSER }), 404, 'not_found');
    }
  });

  it.each([
    ['without ADMIN_API_KEY', withoutKey],
    ['with PORTAL=off', withoutPortal],
  ])('has none of it %s', async (_name, other) => {
    const [file = ''] = filesOf((await ask('/', { headers: BROWSER })).bytes.toString());
    for (const path of ['/', file, '/admin/accounts']) {
      const response = await ask(path, { headers: { ...BROWSER, ...AUTHORIZED } }, other);
      expect([path, response.status, response.bytes.toString()]).toEqual([path, 404, NOTHING_HERE]);
    }
  });

  it('handles the operators\u2019 routes as the API port does', async () => {
    const newest = await api.signUp();
    const list = await admin('GET', '/admin/accounts?limit=1');
    expect(list.body).toMatchObject({ data: [{ id: newest.id }], nextCursor: expect.any(String) as string });
    expect(list.headers).toMatchObject({ 'x-ratelimit-limit': '6000', 'cache-control': 'no-store' });
    const changed = await admin('PATCH', `/admin/accounts/${account.id}`, '{"plan":"pro"}');
    expect(changed.body).toMatchObject({ id: account.id, plan: 'pro' });
    const revoked = await admin('DELETE', `/admin/accounts/${account.id}/api-keys/${account.keyId}`);
    expect([revoked.status, revoked.bytes.length]).toEqual([204, 0]);
    expect(await api.knows(account)).toBe(false);
    expect((await admin('HEAD', '/admin/bans')).status).toBe(200);
  });

  it('refuses there what the API port refuses', async () => {
    expectProblem(await ask('/admin/accounts'), 401, 'unauthorized');
    expectProblem(
      await ask('/admin/accounts', { headers: { authorization: `Bearer ${account.key}` } }),
      401,
      'unauthorized',
    );
    const one = `/admin/accounts/${account.id}`;
    expectProblem(await admin('PATCH', one, '{"plan":"gold"}'), 400, 'validation_failed');
    expectProblem(await admin('PATCH', one, `{"plan":"pro"}${' '.repeat(16 * 1_024)}`), 413, 'body_too_large');
    expectProblem(await admin('POST', one, '{}'), 405, 'method_not_allowed');
    expectProblem(await admin('GET', '/admin/nothing'), 404, 'not_found');
  });

  it.each(['/admin/%zz', '/admin/accounts/%zz', '/admin/bans/%E0%A4%A', '/admin/accounts/%c0%af'])(
    'refuses a path that cannot be decoded as the API port does: %s',
    async (path) => {
      const response = await ask(path, { headers: { ...AUTHORIZED, 'x-request-id': 'own' } });
      expectProblem(response, 400, 'malformed_request');
      const { headers } = await api.call({ path, headers: { ...AUTHORIZED, 'x-request-id': 'own' } });
      expect(Object.keys(response.headers).sort()).toEqual(Object.keys(headers).sort());
      expect((await ask(path, { headers: { host: 'evil.example' } })).status).toBe(421);
    },
  );

  it.each([
    ...['/%zz', '/queues/%zz', '/assets/portal/%E0%A4%A', '/health/%c0%af', 'http://localhost/%zz'],
    ...['http://localhost/admin/%zz', `/queues/${'x'.repeat(2_000)}`, `/queues/api/queues/${'x'.repeat(2_000)}/x`],
    ...[`/assets/portal/${'x'.repeat(2_000)}`, `/health/${'x'.repeat(2_000)}`],
  ])('has nothing at %s', async (path) => {
    const expected = path.includes('%')
      ? [400, '{"error":"The path has invalid percent-encoding."}']
      : [404, NOTHING_HERE];
    for (const method of ['GET', 'POST', 'PROPFIND']) {
      const { status, headers, bytes } = await ask(path, { method, headers: AUTHORIZED });
      expect([method, headers['cache-control'], status, bytes.toString()]).toEqual([method, 'no-store', ...expected]);
    }
  });

  it.each([
    ['400', 'GET / HTTP/1.1\r\nHost: localhost\r\n bad: folded\r\n\r\n'],
    ['400', 'BREW / HTTP/1.1\r\n\r\n'],
    ['431', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`],
  ])('responds %s to what it cannot read: %j', async (status, text) => {
    const connection = await RawConnection.open(api.managementUrl);
    connection.write(text);
    const [head = '', body = ''] = (await connection.end()).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head.toLowerCase()).toMatch(/cache-control: no-store/);
    expect(JSON.parse(body)).toEqual({ error: expect.any(String) as string });
    connection.close();
  });

  it('refuses headers that are sent twice', async () => {
    const authorization = [AUTHORIZED.authorization, AUTHORIZED.authorization];
    expectProblem(await ask('/admin/accounts', { headers: { authorization } }), 401, 'unauthorized');
  });

  it('finishes requests in progress before it stops, and takes no others', async () => {
    const other = await api.join();
    const held = await RawConnection.open(other.managementUrl);
    const body = '{"plan":"pro"}';
    const headers = ['Host: localhost', `Authorization: ${AUTHORIZED.authorization}`, 'Content-Type: application/json'];
    const head = [`PATCH /admin/accounts/${account.id} HTTP/1.1`, ...headers, `Content-Length: ${body.length}`];
    held.write(`${head.join('\r\n')}\r\n\r\n`);
    const bans = () => ask('/admin/bans', { headers: AUTHORIZED }, other);
    expect((await bans()).status).toBe(200);
    const stopped = other.stop();
    await until(async () => (await bans()).status === 503);
    const refused = await bans();
    expectProblem(refused, 503, 'unavailable');
    expect(refused.headers).toMatchObject({ 'retry-after': '1' });
    // The API port has no request in progress.
    const isOpen = () => fetch(other.url).then(Boolean, () => false);
    await until(async () => !(await isOpen()));
    await sleep(200);
    held.write(body);
    const changed = await held.response();
    expect([changed.status, changed.body]).toEqual([200, expect.objectContaining({ plan: 'pro' })]);
    await stopped;
    held.close();
  });

  it.each(['/admin/../messages', '/admin/../', '/admin//', '/admin/%2e%2e/messages'])(
    'leads to no other route of the API: %s',
    async (path) => {
      const { status } = await ask(path, { headers: { ...BROWSER, authorization: `Bearer ${account.key}` } });
      expect(status).toBe(404);
    },
  );

  it.each(['http://localhost/admin/bans', 'http://localhost?/admin/bans', '/%61dmin/bans'])(
    'takes no other target for such a route: %s',
    async (target) => {
      const response = await ask(target, { headers: { ...AUTHORIZED, accept: 'application/json' } });
      expect([response.status, response.bytes.toString()]).toEqual([404, NOTHING_HERE]);
    },
  );
});
