import { accountForEach, expectProblem, sharedApi } from '../../support/api.js';

describe('PATCH /account', () => {
  const api = sharedApi();
  const account = accountForEach(api);

  const patch = (body: object) => api.ask(account, 'PATCH /account', body);
  const deliveryOf = async (id: string) => (await api.ask(account, `GET /messages/${id}`)).body.delivery;

  it.each(['handler', 'webhooks', 'pull'])(
    'responds 200 with the account, its messages delivered by %s',
    async (to) => {
      const before = (await api.ask(account)).body;
      const response = await patch({ delivery: to });
      expect({ status: response.status, body: response.body }).toEqual({
        status: 200,
        body: { ...before, delivery: to },
      });
      expect((await api.ask(account)).body).toEqual(response.body);
    },
  );

  it('renames the account, and no other', async () => {
    const other = await api.signUp();
    const before = (await api.ask(account)).body;
    expect(await patch({ name: 'Zoë & Söhne' })).toMatchObject({
      status: 200,
      body: { ...before, name: 'Zoë & Söhne' },
    });
    expect((await api.ask(account)).body.name).toBe('Zoë & Söhne');
    expect((await api.ask(other.key)).body.name).toBe('Test');
  });

  it.each([
    ['blank', ' '],
    ['too long', 'x'.repeat(101)],
    ['no text', 7],
    ['with U+0000', 'a\u0000b'],
  ])('responds 400 validation_failed to a name that is %s, and changes nothing', async (_what, name) => {
    const before = (await api.ask(account)).body;
    const { errors } = expectProblem(await patch({ name, paused: true }), 400, 'validation_failed');
    expect(errors).toMatchObject([{ pointer: '/name' }]);
    expect((await api.ask(account)).body).toEqual(before);
  });

  it('responds 200 and changes nothing without fields', async () => {
    await patch({ delivery: 'pull' });
    for (const body of [{}, { delivery: null }, { name: null }]) {
      expect(await patch(body)).toMatchObject({ status: 200, body: { delivery: 'pull' } });
    }
  });

  it('lets messages keep the mode in which they were accepted', async () => {
    const handled = await api.sent(account);
    await patch({ delivery: 'pull' });
    const pulled = await api.sent(account);
    const batch = (await api.sendBatch(account, { messages: ['a', 'b'] })).body.data as { id: string }[];
    await patch({ delivery: 'handler' });

    expect(await deliveryOf(handled.id)).toBe('handler');
    for (const { id } of [pulled, ...batch]) {
      expect(await deliveryOf(id)).toBe('pull');
      expect(await api.isQueued(id)).toBe(false);
    }
    expect(await deliveryOf((await api.sent(account)).id)).toBe('handler');
    const listed = (await api.ask(account, 'GET /messages')).body.data as { delivery: string }[];
    expect(listed.map(({ delivery }) => delivery)).toEqual(['handler', 'pull', 'pull', 'pull', 'handler']);
  });

  it('responds 400 validation_failed to an unknown mode, pointing at it', async () => {
    const { errors } = expectProblem(await patch({ delivery: 'push' }), 400, 'validation_failed');
    expect(errors).toEqual([{ pointer: '/delivery', detail: 'delivery must be one of handler, webhooks, pull.' }]);
  });

  it('responds 403 insufficient_scope to a key without account:manage', async () => {
    const { key } = await api.createKey(account, { scopes: ['messages:send', 'messages:read'] });
    expectProblem(await api.ask(key, 'PATCH /account', { delivery: 'pull' }), 403, 'insufficient_scope');
    expect((await api.ask(account)).body.delivery).toBe('handler');
  });
});

describe('A changed mode of delivery', () => {
  const api = sharedApi();
  const own = accountForEach(api);

  it('holds with the next request, also where the key is cached', async () => {
    await api.sent(own);
    await api.sql(`UPDATE sluice.accounts SET delivery = 'pull' WHERE id = $1`, [own.id]);
    const { id } = await api.sent(own);
    expect((await api.ask(own, `GET /messages/${id}`)).body.delivery).toBe('pull');
  });
});
