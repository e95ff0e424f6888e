import type { Account } from '../../support/api.js';
import { expectProblem, pageOf } from '../../support/api.js';
import { expectDocumentedWebhook } from '../../support/documented.js';
import { Fleet } from '../../support/fleet.js';
import { until } from '../../support/processes.js';
import { Receiver } from '../../support/receiver.js';

interface Shown extends Record<string, unknown> {
  readonly id: string;
  readonly status: string;
}

const SINCE = '2026-01-01T00:00:00Z';

describe('The types of endpoints', () => {
  let fleet: Fleet;
  let receiver: Receiver;
  let account: Account;
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
  beforeEach(async () => {
    account = await fleet.client.signUp();
    await ask('PATCH /account', { delivery: 'webhooks' });
  });
  afterEach(async () => {
    expect(await fleet.census()).toBe(0);
  });

  const ask = (route: string, body?: object) => fleet.client.ask(account, route, body);
  const endpoint = async (types: readonly string[], more: object = {}) => {
    const path = `/types-${paths++}`;
    const created = await ask('POST /endpoints', { url: receiver.url(path, 204), types, ...more });
    return { path, id: String(created.body.id) };
  };
  const send = async (type?: string) => (await fleet.client.sent(account, { body: { message: 'hi', type } })).id;
  const message = async (id: string) => (await ask(`GET /messages/${id}`)).body as Shown;
  const becomes = (id: string, status: string) => until(async () => (await message(id)).status === status);

  it('decide which messages each gets, which are posted with their type', async () => {
    const orders = await endpoint(['order.*']);
    const all = await endpoint([]);
    const ids = [await send('order.paid'), await send('order'), await send()];
    for (const id of ids) await becomes(id, 'delivered');
    expect([receiver.ids(orders.path), receiver.ids(all.path).sort()]).toEqual([[ids[0]], ids]);
    for (const { body } of receiver.at(all.path)) expectDocumentedWebhook('message', body);
    const types = receiver.at(all.path).map(({ body }) => (JSON.parse(body) as { type: string }).type);
    expect(types.sort()).toEqual(['message', 'order', 'order.paid']);
  });

  it('hold for each message of a batch', async () => {
    const orders = await endpoint(['order.*']);
    const users = await endpoint(['user.*']);
    const types = ['order.a', 'user.a', undefined, 'order.b', 'else'];
    const batch = await ask('POST /messages/batch', { messages: types.map((type) => ({ message: 'hi', type })) });
    const [a, b, none, c, other] = (batch.body as unknown as { data: Shown[] }).data.map(({ id }) => id) as [
      string,
      ...string[],
    ];
    for (const id of [a, b, c]) await becomes(id ?? '', 'delivered');
    expect([receiver.ids(orders.path).sort(), receiver.ids(users.path)]).toEqual([[a, c], [b]]);
    for (const id of [none, other]) expect((await message(id ?? '')).status).toBe('skipped');
  });

  it('skip what none wants, which is not failed, is listed, and can be replayed but not retried', async () => {
    const id = await send('order.paid');
    expect(await message(id)).toMatchObject({ status: 'failed', failureReason: 'no_endpoint' });
    const users = await endpoint(['user.*', 'sluice.*']);
    const skipped = await send('order.paid');
    expect(await message(skipped)).toMatchObject({ status: 'skipped', failureReason: null, attempts: 0 });
    expect(pageOf<Shown>(await ask('GET /messages?status=skipped')).data.map((one) => one.id)).toEqual([skipped]);
    expect(pageOf<Shown>(await ask('GET /messages')).data.map((one) => one.id)).toEqual([skipped, id]);
    for (const action of ['retry', 'cancel']) {
      const refused = expectProblem(await ask(`POST /messages/${skipped}/${action}`), 409, 'invalid_transition');
      expect(refused.detail).toContain('skipped');
    }
    expect((await ask(`POST /endpoints/${users.id}/replay`, { since: SINCE })).body).toEqual({ count: 0 });
    await ask(`PATCH /endpoints/${users.id}`, { types: ['order.*'] });
    expect((await ask(`POST /endpoints/${users.id}/replay`, { since: SINCE })).body).toEqual({ count: 2 });
    for (const one of [id, skipped]) await becomes(one, 'delivered');
    expect(receiver.ids(users.path).sort()).toEqual([id, skipped]);
  });

  it('hold for retries: what none wants any more is skipped', async () => {
    const id = await send('order.paid');
    await endpoint(['user.*']);
    expect((await ask(`POST /messages/${id}/retry`)).body).toMatchObject({ status: 'skipped', failureReason: null });
    const second = await endpoint(['order.*']);
    expect((await ask(`POST /endpoints/${second.id}/replay`, { since: SINCE })).body).toEqual({ count: 1 });
    await becomes(id, 'delivered');
  });

  it('give nothing to an endpoint of another account', async () => {
    await endpoint(['user.*']);
    const stranger = await fleet.client.signUp();
    const path = `/types-${paths++}`;
    await fleet.client.ask(stranger, 'POST /endpoints', { url: receiver.url(path, 204), types: ['order.*', '*'] });
    const id = await send('order.paid');
    expect((await message(id)).status).toBe('skipped');
    expect(receiver.ids(path)).toEqual([]);
  });

  it('hold for attempts of messages that were accepted before they changed', async () => {
    const deliverAt = new Date(Date.now() + 5_000);
    const [changed, other] = [await endpoint(['order.*']), await endpoint(['order.*'])];
    const { id } = await fleet.client.sent(account, { body: { message: 'hi', type: 'order.paid', deliverAt } });
    await ask(`PATCH /endpoints/${changed.id}`, { types: ['user.*'] });
    await becomes(id, 'delivered');
    expect([receiver.ids(changed.path), receiver.ids(other.path)]).toEqual([[], [id]]);
    const later = await fleet.client.sent(account, {
      body: { message: 'hi', type: 'order.paid', deliverAt: new Date(Date.now() + 4_000) },
    });
    await ask(`PATCH /endpoints/${other.id}`, { types: ['user.*'] });
    await becomes(later.id, 'failed');
    expect(await message(later.id)).toMatchObject({ failureReason: `${other.id}: endpoint_types_changed` });
    expect(receiver.ids(other.path)).toEqual([id]);
  });

  it('end soon what waits and is no longer wanted, so that those behind it with its ordering key are delivered', async () => {
    const changed = await endpoint([]);
    const deliverAt = new Date(Date.now() + 86_400_000);
    const later = { message: 'hi', type: 'order.paid', orderingKey: 'key', deliverAt };
    const first = await fleet.client.sent(account, { body: later });
    const second = await fleet.client.sent(account, { body: { message: 'hi', type: 'user.new', orderingKey: 'key' } });
    await ask(`PATCH /endpoints/${changed.id}`, { types: ['user.*'] });
    await becomes(second.id, 'delivered');
    expect(await message(first.id)).toMatchObject({
      failureReason: `${changed.id}: endpoint_types_changed`,
      attempts: 0,
    });
    expect(receiver.ids(changed.path)).toEqual([second.id]);
  });

  it('come with headers, which are sent along', async () => {
    const { path, id: endpointId } = await endpoint([], { headers: { Authorization: 'Bearer abc', 'X-Tab': 'a\tb' } });
    await becomes(await send(), 'delivered');
    expect(receiver.at(path)[0]?.headers).toMatchObject({
      ...{ authorization: 'Bearer abc', 'x-tab': 'a\tb', 'content-type': 'application/json' },
      'user-agent': expect.stringMatching(/^Sluice\//) as string,
    });
    await ask(`POST /endpoints/${endpointId}/test`);
    expect(receiver.at(path)[1]?.headers).toMatchObject({ authorization: 'Bearer abc' });
  });
});
