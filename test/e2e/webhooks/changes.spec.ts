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
    await delivered();
  });

  it('another URL', async () => {
    const { path, url } = newUrl();
    await ask(`PATCH /endpoints/${endpoint.id}`, { url });
    expect((await delivered())?.path).toBe(path);
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
