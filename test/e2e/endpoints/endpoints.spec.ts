import { accountForEach, accountOf, expectProblem, ownApi, pageOf, sharedApi, statusesOf } from '../../support/api.js';

const URL = 'https://example.com/hooks?tenant=1';

interface EndpointBody extends Record<string, unknown> {
  readonly id: string;
  readonly secret: string;
}

describe('Endpoints', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const stranger = accountOf(api);

  let count = 0;
  const anUrl = () => `https://example.com/${++count}`;
  const post = (body: object = { url: anUrl() }, key = account.key) => api.ask(key, 'POST /endpoints', body);
  const created = async (body?: object) => (await post(body)).body as EndpointBody;
  const list = async () => pageOf<EndpointBody>(await api.ask(account.key, 'GET /endpoints')).data;

  it('are created with a secret, which is shown this once', async () => {
    const response = await post({ url: URL, description: 'orders', rateLimitPerSecond: 100 });
    const { id, secret, createdAt, ...rest } = response.body;
    expect(response.status).toBe(201);
    expect(response.headers.location).toBe(`/endpoints/${String(id)}`);
    expect(id).toMatch(/^ep_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(createdAt).toBe(new Date(String(createdAt)).toISOString());
    expect(rest).toEqual({
      ...{ url: URL, description: 'orders', rateLimitPerSecond: 100, enabled: true },
      ...{ types: [], headerNames: [] },
      ...{ disabledAt: null, disabledReason: null, failingSince: null },
    });
    const shown = (await api.ask(account.key, `GET /endpoints/${String(id)}`)).body;
    expect({ ...shown, secret }).toEqual(response.body);
    expect([await list(), 'secret' in shown]).toEqual([[shown], false]);
  });

  it('keep their secrets encrypted', async () => {
    const { id, secret } = await created();
    const [row] = await api.sql<{ text: string }>(`SELECT e::text AS text FROM sluice.endpoints e WHERE id = $1`, [id]);
    expect(row?.text).toContain('keyId');
    expect(row?.text).not.toContain(secret.slice('whsec_'.length));
  });

  it('may be created disabled', async () => {
    expect(await created({ url: URL, enabled: false })).toMatchObject({
      enabled: false,
      disabledReason: 'by_account',
      disabledAt: expect.any(String) as string,
    });
  });

  it.each([
    ['missing', undefined],
    ['null', null],
    ['no URL', 'example.com'],
    ['of another scheme', 'ftp://example.com/'],
    ['a file', 'file:///etc/passwd'],
    ['without slashes', 'https:example.com'],
    ['with one slash', 'https:/example.com/'],
    ['with three slashes', 'https:///example.com/'],
    ['with backslashes', String.raw`https:\\example.com`],
    ['without a host', 'https://:443/'],
    ['with the port 0', 'https://example.com:0/'],
    ['with an empty part of the host', 'https://a..example.com/'],
    ['with a long part of the host', `https://${'a'.repeat(64)}.example.com/`],
    ['with a long host', `https://${'a.'.repeat(127)}com/`],
    ['with a password', 'https://user:secret@example.com/'],
    ['with a fragment', 'https://example.com/#here'],
    ['with an empty fragment', 'https://example.com/#'],
    ['with U+0000', 'https://example.com/\u0000'],
    ['with a lone surrogate', 'https://example.com/\ud800'],
    ['with a line break', 'https://example.com/x\r\nX: y'],
    ['with a space around', ' https://example.com/'],
    ['too long', `https://example.com/${'x'.repeat(2_048)}`],
    ['with a loopback address', 'http://127.0.0.1/'],
    ['with a decimal address', 'http://2130706433/'],
    ['with an octal address', 'http://0177.0.0.1/'],
    ['with a mapped address', 'http://[::ffff:10.0.0.1]/'],
    ['with a metadata address', 'http://169.254.169.254/latest/meta-data/'],
    ['with the name of this host', 'http://localhost:3000/'],
  ])('are not created when the url is %s', async (_what, url) => {
    const { errors } = expectProblem(await post({ url }), 400, 'validation_failed');
    expect(errors).toEqual([{ pointer: '/url', detail: expect.stringMatching(/^url must /) as string }]);
    expect(await list()).toEqual([]);
  });

  it.each([
    `https://${'a'.repeat(63)}.example.com/`,
    `https://${'a.'.repeat(125)}com/`,
    'HTTPS://example.com.',
    'https://_dmarc.example.com:65535',
    'https://[2606:4700::1111]/',
  ])('are created when the url is %s', async (url) => {
    expect((await post({ url })).body.url).toBe(url);
  });

  it.each([
    ['description', 'x'.repeat(201)],
    ['description', 1],
    ['description', 'a\u0000b'],
    ['enabled', 'yes'],
    ['rateLimitPerSecond', -1],
    ['rateLimitPerSecond', 10_001],
    ['rateLimitPerSecond', 1.5],
  ])('are not created when %s is %j', async (field, value) => {
    const { errors } = expectProblem(await post({ url: URL, [field]: value }), 400, 'validation_failed');
    expect(errors).toMatchObject([{ pointer: `/${field}` }]);
  });

  it('are at most 50, also when they are created at once', async () => {
    await created();
    await api.sql(
      `INSERT INTO sluice.endpoints
       SELECT e.* FROM sluice.endpoints, generate_series(1, 47) AS copy,
         jsonb_populate_record(endpoints, jsonb_build_object('id', 'ep_copy' || copy)) AS e
       WHERE endpoints.account_id = $1`,
      [account.id],
    );
    const responses = await Promise.all(Array.from({ length: 4 }, () => post()));
    expect(statusesOf(responses)).toEqual([201, 201, 409, 409]);
    expectProblem(await post(), 409, 'too_many_endpoints');
    await api.ask(account.key, `DELETE /endpoints/${String(responses.find(({ status }) => status === 201)?.body.id)}`);
    expect((await post()).status).toBe(201);
  });

  it.each([
    ['the same', 'https://example.com/hooks?tenant=1'],
    ['in capitals', 'HTTPS://EXAMPLE.COM/hooks?tenant=1'],
    ['with the default port', 'https://example.com:443/hooks?tenant=1'],
    ['with a dot after the host', 'https://example.com./hooks?tenant=1'],
    ['with dots in the path', 'https://example.com/x/../hooks?tenant=1'],
    ['with backslashes', 'https://example.com\\hooks?tenant=1'],
    ['with needless escapes', 'https://example.com/%68ooks?tenant=%31'],
    ['with another width', 'https://ｅxample.com/hooks?tenant=1'],
  ])('have a URL of their own: not one that is %s', async (_what, url) => {
    await created({ url: URL });
    const other = await created();
    const refused = [await post({ url }), await api.ask(account.key, `PATCH /endpoints/${other.id}`, { url })];
    for (const response of refused) {
      const { errors } = expectProblem(response, 400, 'validation_failed');
      expect(errors).toEqual([{ pointer: '/url', detail: expect.stringContaining('another endpoint') as string }]);
    }
    expect(await list()).toHaveLength(2);
  });

  it.each([
    ['another scheme', 'http://example.com/hooks?tenant=1'],
    ['another port', 'https://example.com:8443/hooks?tenant=1'],
    ['another path', 'https://example.com/Hooks?tenant=1'],
    ['another query', 'https://example.com/hooks?tenant=2'],
    ['an escaped delimiter', 'https://example.com/hooks%3Ftenant=1'],
  ])('may differ in %s', async (_what, url) => {
    await created({ url: URL });
    expect((await post({ url })).status).toBe(201);
  });

  it('have a URL of their own, also when they are created at once, but may share it with another account', async () => {
    const responses = await Promise.all(Array.from({ length: 5 }, () => post({ url: URL })));
    expect(statusesOf(responses)).toEqual([201, 400, 400, 400, 400]);
    const [first] = await list();
    const same = await api.ask(account.key, `PATCH /endpoints/${first?.id}`, { url: URL, description: 'mine' });
    expect(same.body).toMatchObject({ url: URL, description: 'mine' });
    const other = await post({ url: URL }, stranger.key);
    expect(other.status).toBe(201);
    await api.ask(stranger.key, `DELETE /endpoints/${String(other.body.id)}`);
  });

  it('are changed field by field', async () => {
    const { id } = await created({ url: URL, description: 'orders' });
    const [before] = await list();
    const patch = async (body: object) => (await api.ask(account.key, `PATCH /endpoints/${id}`, body)).body;
    expect(await patch({})).toEqual(before);
    expect(await patch({ rateLimitPerSecond: 5, description: '' })).toEqual({
      ...before,
      ...{ rateLimitPerSecond: 5, description: '' },
    });
    expect(await patch({ url: 'https://example.org/', enabled: false })).toMatchObject({
      ...{ url: 'https://example.org/', rateLimitPerSecond: 5 },
      ...{ enabled: false, disabledReason: 'by_account', disabledAt: expect.any(String) as string },
    });
    expect(await patch({ enabled: true })).toMatchObject({ enabled: true, disabledReason: null, disabledAt: null });
    expectProblem(
      await api.ask(account.key, `PATCH /endpoints/${id}`, { url: 'http://10.0.0.1/' }),
      400,
      'validation_failed',
    );
  });

  it('rotate their secrets', async () => {
    const { id, secret } = await created();
    const rotated = async (body?: object) => {
      const response = await api.ask(account.key, `POST /endpoints/${id}/rotate-secret`, body);
      expect(response.status).toBe(200);
      return response.body.secret;
    };
    const secrets = [secret, await rotated(), await rotated({ graceSeconds: 60 })];
    expect(new Set(secrets).size).toBe(3);
    // The first one had no grace.
    const [row] = await api.sql<{ count: number }>(
      'SELECT jsonb_array_length(secrets) AS count FROM sluice.endpoints WHERE id = $1',
      [id],
    );
    expect(row?.count).toBe(2);
    const invalid = await api.ask(account.key, `POST /endpoints/${id}/rotate-secret`, { graceSeconds: -1 });
    expectProblem(invalid, 400, 'validation_failed');
  });

  it('are deleted', async () => {
    const { id } = await created();
    expect((await api.ask(account.key, `DELETE /endpoints/${id}`)).status).toBe(204);
    expect(await list()).toEqual([]);
    expectProblem(await api.ask(account.key, `GET /endpoints/${id}`), 404, 'endpoint_not_found');
  });

  it('are unknown to other accounts', async () => {
    const { id } = await created();
    const routes: [string, object?][] = [
      [`GET /endpoints/${id}`],
      [`PATCH /endpoints/${id}`, { enabled: false }],
      [`DELETE /endpoints/${id}`],
      [`POST /endpoints/${id}/rotate-secret`],
      [`POST /endpoints/${id}/test`],
    ];
    for (const [route, body] of routes) {
      expectProblem(await api.ask(stranger.key, route, body), 404, 'endpoint_not_found');
      expectProblem(await api.ask(account.key, route.replace(id, 'ep_x'), body), 404, 'endpoint_not_found');
    }
    expect(await list()).toMatchObject([{ id, enabled: true }]);
  });

  it('need the scope account:manage', async () => {
    const { key } = await api.createKey(account.key, { scopes: ['messages:send', 'messages:read'] });
    expectProblem(await post({ url: URL }, key), 403, 'insufficient_scope');
  });

  it('move the epoch of their account when it has other enabled ones than before', async () => {
    const epoch = async () => {
      const rows = await api.sql<{ epoch: string }>('SELECT epoch FROM sluice.accounts WHERE id = $1', [account.id]);
      return Number(rows[0]?.epoch);
    };
    const epochs = [await epoch()];
    const { id } = await created();
    epochs.push(await epoch());
    await api.ask(account.key, `PATCH /endpoints/${id}`, { enabled: false });
    epochs.push(await epoch());
    await api.ask(account.key, `DELETE /endpoints/${id}`);
    epochs.push(await epoch());
    expect(epochs).toEqual([...new Set(epochs)].sort((a, b) => a - b));
  });
});

describe('Without SECRETS_KEY', () => {
  const api = ownApi({ SECRETS_KEY: '' });
  const account = accountOf(api);

  it('there are no webhooks', async () => {
    expectProblem(await api.ask(account.key, 'POST /endpoints', { url: URL }), 403, 'webhooks_disabled');
    expectProblem(await api.ask(account.key, 'GET /endpoints'), 403, 'webhooks_disabled');
  });
});
