import { accountForEach, expectProblem, pageOf, sharedApi } from '../../support/api.js';

const URL = 'https://example.com/hooks';

describe('The types and headers of an endpoint', () => {
  const api = sharedApi();
  const account = accountForEach(api);

  const post = (body: object = {}) => api.ask(account.key, 'POST /endpoints', { url: URL, ...body });
  const created = async (body?: object) => {
    const { id, types, headerNames } = (await post(body)).body;
    return { id: String(id), types, headerNames };
  };
  const get = async (id: string) => (await api.ask(account.key, `GET /endpoints/${id}`)).body;
  const patch = (id: string, body: object) => api.ask(account.key, `PATCH /endpoints/${id}`, body);
  const list = async () => pageOf(await api.ask(account.key, 'GET /endpoints')).data;

  it.each([
    [['order.paid']],
    [['order.*', 'invoice.paid', 'a_b-C.9']],
    [['*']],
    [['sluice.*', 'sluice.message.failed', 'sluice.message.*', 'sluice.account.limit_reached', '*']],
    [Array.from({ length: 100 }, (_, index) => `type-${index}`)],
    [['a'.repeat(128), `${'a'.repeat(126)}.*`]],
    [[]],
    [null],
  ])('are accepted as they are: %j', async (types) => {
    const { id } = await created({ types });
    expect((await get(id)).types).toEqual(types ?? []);
  });

  it('are stored once each', async () => {
    expect(await created({ types: ['order.*', 'a', 'order.*'] })).toMatchObject({ types: ['order.*', 'a'] });
  });

  it.each<[unknown, string]>([
    ['order.paid', '/types'],
    [{ 0: 'order' }, '/types'],
    [[1], '/types'],
    [[null], '/types'],
    [[['order']], '/types'],
    [Array.from({ length: 101 }, (_, index) => `type-${index}`), '/types'],
    [['order', ''], '/types/1'],
    [['order.'], '/types/0'],
    [['order*'], '/types/0'],
    [['*.paid'], '/types/0'],
    [['order.*.eu'], '/types/0'],
    [['order paid'], '/types/0'],
    [['%'], '/types/0'],
    [['a\u0000'], '/types/0'],
    [['a'.repeat(129)], '/types/0'],
    [['sluice'], '/types/0'],
    [['sluice.message'], '/types/0'],
    [['sluice.messages.*'], '/types/0'],
    [['sluice.message.delivered'], '/types/0'],
  ])('are refused and store nothing: types %j', async (types, pointer) => {
    const { id } = await created();
    for (const response of [await post({ url: 'https://example.com/2', types }), await patch(id, { types })]) {
      expect(expectProblem(response, 400, 'validation_failed').errors).toMatchObject([{ pointer }]);
    }
    expect(await list()).toHaveLength(1);
    expect((await get(id)).types).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['an array', ['X-A']],
    ['a string', 'X-A: a'],
    ['a number as a value', { 'X-A': 1 }],
    ['null as a value', { 'X-A': null }],
    ['no name', { '': 'secret-value' }],
    ['no token', { 'X A': 'secret-value' }],
    ['a line break in a name', { 'X-A: b\r\nX-B': 'secret-value' }],
    ['a line break in a value', { 'X-A': 'secret-value\r\nX-B: b' }],
    ['a line feed in a value', { 'X-A': 'secret-value\nX-B: b' }],
    ['U+0000', { 'X-A': 'secret-value\u0000' }],
    ['what becomes a line break as Latin-1', { 'X-A': 'secret-value嘊嘍X-B: b' }],
    ['the host', { Host: 'secret-value' }],
    ['a length', { 'Content-Length': '0' }],
    ['an encoding', { 'Transfer-Encoding': 'chunked' }],
    ['a signature', { 'Webhook-Signature': 'v1,secret-value' }],
    ['an upgrade', { Upgrade: 'h2c', Connection: 'upgrade' }],
    ['an expectation', { Expect: '100-continue' }],
    ['a name twice', { 'X-A': 'secret-value', 'x-a': 'b' }],
    ['too many', Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`x-${index}`, 'secret-value']))],
    ['too long a value', { 'X-A': 'x'.repeat(2_049) }],
  ])('are refused, store nothing and are not repeated: headers with %s', async (_what, headers) => {
    const { id } = await created();
    for (const response of [await post({ url: 'https://example.com/2', headers }), await patch(id, { headers })]) {
      const problem = expectProblem(response, 400, 'validation_failed');
      expect(problem.errors).toMatchObject([{ pointer: '/headers' }]);
      expect(JSON.stringify(problem)).not.toContain('secret-value');
    }
    expect(await list()).toHaveLength(1);
    expect((await get(id)).headerNames).toEqual([]);
  });

  it('show the names of headers, and never their values', async () => {
    const response = await post({ headers: { Authorization: 'Bearer secret-value', ['__proto__']: 'secret-value' } });
    const id = String(response.body.id);
    expect(response.body.headerNames).toEqual(['Authorization', '__proto__']);
    const seen = [response.body, await get(id), await list(), (await patch(id, { description: 'x' })).body];
    const [row] = await api.sql<{ text: string }>('SELECT e::text AS text FROM sluice.endpoints e WHERE id = $1', [id]);
    for (const one of [JSON.stringify(seen), row?.text ?? '']) expect(one).not.toContain('secret-value');
    expect((await get(id)).headerNames).toEqual(['Authorization', '__proto__']);
  });

  it('stay when they are omitted, are replaced as a whole, and go with null', async () => {
    const { id } = await created({ types: ['a', 'b'], headers: { 'X-A': 'a', 'X-B': 'b' } });
    const steps = [
      [{ description: 'x' }, ['a', 'b'], ['X-A', 'X-B']],
      [{ types: ['c'] }, ['c'], ['X-A', 'X-B']],
      [{ headers: { 'X-C': 'c' } }, ['c'], ['X-C']],
      [{ types: null }, [], ['X-C']],
      [{ headers: null }, [], []],
      [{ types: ['d'], headers: { 'X-D': 'd' } }, ['d'], ['X-D']],
      [{ types: [], headers: {} }, [], []],
    ] as const;
    for (const [change, types, headerNames] of steps) {
      expect((await patch(id, change)).body).toMatchObject({ types, headerNames });
      expect(await get(id)).toMatchObject({ types, headerNames });
    }
  });

  it.each([
    ['description', 'old', ''],
    ['rateLimitPerSecond', 7, 0],
    ['types', ['a'], []],
    ['enabled', false, false],
    ['url', 'https://example.com/old', 'https://example.com/old'],
  ])('and %s, which is %j, is %j after null', async (field, before, after) => {
    const { id } = await created({ [field]: before });
    expect((await patch(id, {})).body).toMatchObject({ [field]: before });
    expect((await patch(id, { [field]: null })).body).toMatchObject({ [field]: after });
    expect(await get(id)).toMatchObject({ [field]: after });
  });
});
