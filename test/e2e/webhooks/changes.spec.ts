import { Webhook } from 'standardwebhooks';
import type { Account } from '../../support/api.js';
import { Fleet } from '../../support/fleet.js';
import { until } from '../../support/processes.js';
import { Receiver } from '../../support/receiver.js';

interface Issued {
  readonly id: string;
  readonly secret: string;
}

/** Changes follow deliveries at once, since a worker may keep what it has read for a while. */
describe('A change of an endpoint holds for each attempt that begins after the response:', () => {
  let fleet: Fleet;
  let receiver: Receiver;
  let account: Account;
  let endpoint: Issued;
  let paths = 0;

  beforeAll(async () => {
    fleet = await Fleet.start({ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_RETRY_SECONDS: '0' });
    // The second one may have read the endpoint before a change, too.
    await fleet.worker();
    await fleet.worker();
    receiver = await Receiver.start();
  });
  afterAll(async () => {
    receiver.stop();
    await fleet.stop();
  });

  const ask = (route: string, body?: object) => fleet.client.ask(account, route, body);
  const newUrl = () => {
    const path = `/changes-${paths++}`;
    return { path, url: receiver.url(path, 204) };
  };
  const sent = async () => (await fleet.client.sent(account, { message: 'hello' })).id;
  const requestFor = (id: string) => receiver.received.find(({ headers }) => headers['webhook-id'] === id);
  const delivered = async () => {
    const id = await sent();
    await until(() => requestFor(id) !== undefined);
    return requestFor(id);
  };

  beforeEach(async () => {
    account = await fleet.client.signUp();
    await ask('PATCH /account', { delivery: 'webhooks' });
    endpoint = (await ask('POST /endpoints', { url: newUrl().url })).body as unknown as Issued;
    // As many as both workers take some of.
    await Promise.all(Array.from({ length: 20 }, delivered));
  });

  it('another URL', async () => {
    const { path, url } = newUrl();
    await ask(`PATCH /endpoints/${endpoint.id}`, { url });
    expect((await delivered())?.path).toBe(path);
  });

  const patch = (changes: object) => ask(`PATCH /endpoints/${endpoint.id}`, changes);
  it.each<[string, (old: string, other: string) => Promise<unknown>]>([
    ['another URL', (_old, other) => patch({ url: other })],
    [
      'another URL, and the old one again',
      async (old, other) => {
        await patch({ url: other });
        await patch({ url: old });
      },
    ],
    [
      'disabled, then enabled',
      async () => {
        await patch({ enabled: false });
        await patch({ enabled: true });
      },
    ],
    [
      'disabled, then enabled with another URL',
      async (_old, other) => {
        await patch({ enabled: false });
        await patch({ url: other, enabled: true });
      },
    ],
  ])('%s, whatever a request before is answered afterwards', async (_what, change) => {
    const { path: before, url: old } = newUrl();
    for (const status of [410, 500]) {
      let answer: () => void = () => undefined;
      let isFirst = true;
      receiver.url(before, (response) => {
        if (isFirst) answer = () => response.writeHead(status).end();
        else response.writeHead(204).end();
        isFirst = false;
      });
      await patch({ url: old });
      const id = await sent();
      await until(() => requestFor(id) !== undefined);
      await change(old, newUrl().url);
      answer();
      await until(async () => (await ask(`GET /messages/${id}`)).body.status === 'delivered');
      expect(receiver.received.filter(({ headers }) => headers['webhook-id'] === id)).toHaveLength(2);
      expect((await ask(`GET /endpoints/${endpoint.id}`)).body).toMatchObject({ enabled: true, failingSince: null });
    }
  });

  it.each([0, 60])('a new secret, with a grace of %s seconds', async (graceSeconds) => {
    const { secret } = (await ask(`POST /endpoints/${endpoint.id}/rotate-secret`, { graceSeconds }))
      .body as unknown as Issued;
    const request = await delivered();
    const signatures = String(request?.headers['webhook-signature']).split(' ');
    expect(signatures).toHaveLength(graceSeconds === 0 ? 1 : 2);
    const verify = (key: string) =>
      new Webhook(key).verify(request?.body ?? '', request?.headers as Record<string, string>);
    expect(verify(secret)).toMatchObject({ type: 'message' });
    if (graceSeconds === 0) expect(() => verify(endpoint.secret)).toThrow();
    else expect(verify(endpoint.secret)).toMatchObject({ type: 'message' });
  });

  it('other headers, and none', async () => {
    for (const headers of [{ 'X-A': 'a' }, { 'X-B': 'b' }, null]) {
      await ask(`PATCH /endpoints/${endpoint.id}`, { headers });
      const requests = await Promise.all(Array.from({ length: 10 }, delivered));
      const sentAlong = requests.map((request) => [request?.headers['x-a'], request?.headers['x-b']]);
      const expected = [headers && 'X-A' in headers ? 'a' : undefined, headers && 'X-B' in headers ? 'b' : undefined];
      expect(sentAlong).toEqual(requests.map(() => expected));
    }
  });

  it('other types, also for what was accepted before', async () => {
    const other = (await ask('POST /endpoints', { url: newUrl().url })).body as unknown as Issued;
    const deliverAt = new Date(Date.now() + 5_000).toISOString();
    const body = { message: 'hello', type: 'order.paid' };
    const { id: before } = (await ask('POST /messages', { ...body, deliverAt })).body;
    await ask(`PATCH /endpoints/${endpoint.id}`, { types: ['user.*'] });
    const { id: after } = (await ask('POST /messages', body)).body;
    for (const id of [before, after]) {
      await until(async () => (await ask(`GET /messages/${String(id)}`)).body.status === 'delivered');
      const attempts = (await ask(`GET /messages/${String(id)}/attempts`)).body as unknown as {
        data: { target: string; responseStatus: number | null }[];
      };
      const requested = attempts.data.filter(({ responseStatus }) => responseStatus !== null);
      expect(requested.map(({ target }) => target)).toEqual([other.id]);
    }
  });

  it('disabled, then enabled', async () => {
    const other = (await ask('POST /endpoints', { url: newUrl().url })).body as unknown as Issued;
    await delivered();
    await ask(`PATCH /endpoints/${endpoint.id}`, { enabled: false });
    const id = await sent();
    await until(async () => (await ask(`GET /messages/${id}`)).body.status === 'delivered');
    const attempts = (await ask(`GET /messages/${id}/attempts`)).body as unknown as { data: { target: string }[] };
    expect(attempts.data.map(({ target }) => target)).toEqual([other.id]);
    await ask(`PATCH /endpoints/${other.id}`, { enabled: false });
    await ask(`PATCH /endpoints/${endpoint.id}`, { enabled: true });
    await delivered();
  });

  it('deleted', async () => {
    const other = (await ask('POST /endpoints', { url: newUrl().url })).body as unknown as Issued;
    await ask(`DELETE /endpoints/${endpoint.id}`);
    const id = await sent();
    await until(async () => (await ask(`GET /messages/${id}`)).body.status === 'delivered');
    const attempts = (await ask(`GET /messages/${id}/attempts`)).body as unknown as { data: { target: string }[] };
    expect(attempts.data.map(({ target }) => target)).toEqual([other.id]);
  });
});
