import { accountForEach, accountOf, expectProblem, pageOf, sharedApi } from '../../support/api.js';

interface Delivery extends Record<string, unknown> {
  readonly messageId: string;
}

const FIELDS = [
  ...['messageId', 'endpointId', 'status', 'attempts', 'nextAttemptAt', 'lastAttemptAt', 'durationMs'],
  ...['responseStatus', 'responseBody', 'error'],
];

describe('Deliveries', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const stranger = accountOf(api);

  const endpoint = async () => {
    await api.ask(account, 'PATCH /account', { delivery: 'webhooks' });
    const created = await api.ask(account, 'POST /endpoints', {
      url: 'https://example.com/hooks',
      description: 'orders',
    });
    return String(created.body.id);
  };
  const ofMessage = async (id: string, key = account.key) =>
    (await api.ask(key, `GET /messages/${id}/deliveries`)).body.data as Delivery[];

  it('of a message are shown with the names of their endpoints', async () => {
    const id = await endpoint();
    const message = await api.sent(account);
    const [delivery, ...others] = await ofMessage(message.id);
    expect(Object.keys(delivery ?? {}).sort()).toEqual([...FIELDS, 'url', 'description'].sort());
    expect(delivery).toMatchObject({
      ...{ messageId: message.id, endpointId: id, status: 'pending', attempts: 0 },
      ...{ url: 'https://example.com/hooks', description: 'orders' },
    });
    expect(others).toEqual([]);
  });

  it('of a message are shown to a key without account:manage, but not the URLs of endpoints', async () => {
    const id = await endpoint();
    const message = await api.sent(account);
    const { key } = await api.createKey(account, { scopes: ['messages:read'] });
    expect(await ofMessage(message.id, key)).toMatchObject([{ endpointId: id, url: null, description: null }]);
    expectProblem(await api.ask(key, `GET /endpoints/${id}/deliveries`), 403, 'insufficient_scope');
  });

  it.each(['handler', 'pull'])('of a message that is delivered by %s are none', async (delivery) => {
    await api.ask(account, 'PATCH /account', { delivery });
    expect(await ofMessage((await api.sent(account)).id)).toEqual([]);
  });

  it('to an endpoint are listed in pages, newest first', async () => {
    const id = await endpoint();
    const sent: string[] = [];
    for (let count = 0; count < 3; count++) sent.unshift((await api.sent(account)).id);
    const path = `GET /endpoints/${id}/deliveries?limit=2`;
    const first = pageOf<Delivery>(await api.ask(account, path));
    const second = pageOf<Delivery>(await api.ask(account, `${path}&cursor=${String(first.nextCursor)}`));
    expect([...first.data, ...second.data].map(({ messageId }) => messageId)).toEqual(sent);
    expect([first.data.length, second.nextCursor]).toEqual([2, null]);
    expect(Object.keys(first.data[0] ?? {}).sort()).toEqual([...FIELDS].sort());
    expect(pageOf(await api.ask(account, `GET /endpoints/${id}/deliveries?status=failed`)).data).toEqual([]);
    expect(pageOf(await api.ask(account, `GET /messages?endpointId=${id}`)).data).toHaveLength(3);
    expect(pageOf(await api.ask(account, `GET /messages?endpointId=${id}&status=delivered`)).data).toEqual([]);
  });

  it('are unknown to another account', async () => {
    const id = await endpoint();
    const message = await api.sent(account);
    expectProblem(await api.ask(stranger, `GET /messages/${message.id}/deliveries`), 404, 'message_not_found');
    expectProblem(await api.ask(stranger, `GET /endpoints/${id}/deliveries`), 404, 'endpoint_not_found');
    expect(pageOf(await api.ask(stranger, `GET /messages?endpointId=${id}`)).data).toEqual([]);
  });

  it.each(['queued', 'processing', '', 'toString', 'pending&status=failed'])(
    'to an endpoint are refused with status=%s',
    async (status) => {
      const id = await endpoint();
      const response = await api.ask(account, `GET /endpoints/${id}/deliveries?status=${status}`);
      expect(expectProblem(response, 400, 'validation_failed').errors).toEqual([
        { pointer: '', detail: 'status must be one of pending, delivered, failed.' },
      ]);
    },
  );

  it.each(['queued', 'processing', 'cancelled', 'skipped'])(
    'do not select messages with status=%s, which is none of a delivery',
    async (status) => {
      const response = await api.ask(account, `GET /messages?endpointId=${await endpoint()}&status=${status}`);
      expect(expectProblem(response, 400, 'validation_failed').errors).toEqual([
        {
          pointer: '',
          detail: 'endpointId must be the id of an endpoint; with it, status can only be delivered or failed.',
        },
      ]);
    },
  );
});
