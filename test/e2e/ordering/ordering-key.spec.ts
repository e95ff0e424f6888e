import type { Account } from '../../support/api.js';
import { Consumer } from '../../support/consumer.js';
import { Fleet } from '../../support/fleet.js';
import { until } from '../../support/processes.js';
import { Receiver } from '../../support/receiver.js';

const DEADLINE_MS = 60_000;

describe('Messages with an orderingKey', () => {
  let fleet: Fleet;
  let receiver: Receiver;
  let account: Account;

  beforeAll(async () => {
    fleet = await Fleet.start({ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_RETRY_SECONDS: '0,0', BACKOFF_MS: '10' });
    await fleet.worker();
    receiver = await Receiver.start();
  });
  afterAll(async () => {
    receiver.stop();
    await fleet.stop();
  });
  beforeEach(async () => {
    account = await fleet.client.signUp();
  });

  const ask = async (route: string, body?: object) => (await fleet.client.ask(account, route, body)).body;
  const deliverBy = (delivery: string) => ask('PATCH /account', { delivery });
  const sendBatch = async (...messages: readonly (readonly [message: string, orderingKey: string | null])[]) => {
    const batch = messages.map(([message, orderingKey]) => ({ message, orderingKey }));
    const { data } = await ask('POST /messages/batch', { messages: batch });
    return (data as { id: string }[]).map(({ id }) => id);
  };
  const status = async (id = '') => (await ask(`GET /messages/${id}`)).status;
  const becomes = (id: string | undefined, wanted: string) =>
    until(async () => (await status(id)) === wanted, DEADLINE_MS);

  it('are handled one after another, as the batch and the requests after it were accepted', async () => {
    const batch = await sendBatch(['wait 100', 'a'], ['throw', 'a'], ['x', 'a'], ['y', 'b']);
    const later = await sendBatch(['z', 'a']);
    for (const id of [batch[2], batch[3], ...later]) await becomes(id, 'delivered');
    expect(await status(batch[1])).toBe('failed');
    const calls = fleet.handled().filter(({ id }) => batch.includes(id) || later.includes(id));
    const ofA = calls.filter(({ id }) => id !== batch[3]);
    const throws = Array.from({ length: 5 }, (_, index) => [batch[1], index + 1]);
    expect(ofA.map(({ id, attempt }) => [id, attempt])).toEqual([
      [batch[0], 1],
      ...throws,
      [batch[2], 1],
      [later[0], 1],
    ]);
    // The other key did not wait.
    expect(calls.findIndex(({ id }) => id === batch[3])).toBeLessThan(calls.findIndex(({ id }) => id === batch[2]));
  });

  it('are leased one of each key, and the next one as soon as that is acknowledged', async () => {
    await deliverBy('pull');
    const consumer = new Consumer(fleet.client, account);
    const [first, second, other, free] = await sendBatch(['1', 'a'], ['2', 'a'], ['3', 'b'], ['4', null]);
    const leased = await consumer.lease({ max: 10 });
    expect(leased.map(({ id }) => id).sort()).toEqual([first, other, free].sort());
    const waiting = consumer.lease({ max: 10, wait: 20 });
    expect(await consumer.lease({ max: 10 })).toEqual([]);
    const begun = performance.now();
    for (const lease of leased) if (lease.id === first) expect((await consumer.ack(lease)).status).toBe(204);
    expect((await waiting).map(({ id }) => id)).toEqual([second]);
    expect(performance.now() - begun).toBeLessThan(15_000);
  });

  it('are leased after the ones before them were cancelled or rejected for good', async () => {
    await deliverBy('pull');
    const consumer = new Consumer(fleet.client, account);
    const [first, second, third] = await sendBatch(['1', 'a'], ['2', 'a'], ['3', 'a']);
    for (let attempt = 1; attempt <= 5; attempt++) {
      const lease = await consumer.leaseOne();
      expect(lease).toMatchObject({ id: first, attempt });
      await consumer.nack(lease, { delaySeconds: 0 });
    }
    expect(await status(first)).toBe('failed');
    expect((await fleet.client.ask(account, `POST /messages/${second}/cancel`)).status).toBe(200);
    expect((await consumer.leaseOne()).id).toBe(third);
  });

  it('take their place before the others when they are retried', async () => {
    await deliverBy('pull');
    const consumer = new Consumer(fleet.client, account);
    const [first, second] = await sendBatch(['1', 'a'], ['2', 'a']);
    for (let attempt = 1; attempt <= 5; attempt++) await consumer.nack(await consumer.leaseOne(), { delaySeconds: 0 });
    expect((await fleet.client.ask(account, `POST /messages/${first}/retry`)).status).toBe(202);
    const lease = await consumer.leaseOne();
    expect(lease.id).toBe(first);
    expect(await consumer.lease()).toEqual([]);
    await consumer.ack(lease);
    expect((await consumer.leaseOne()).id).toBe(second);
  });

  it('arrive at each endpoint in order, also after failures, and hold up no other endpoint', async () => {
    await deliverBy('webhooks');
    const failing = receiver.url('/failing', (response, _received, n) =>
      response.writeHead(n % 3 === 0 ? 204 : 500).end(),
    );
    await ask('POST /endpoints', { url: failing });
    await ask('POST /endpoints', { url: receiver.url('/fine') });
    const ids = await sendBatch(['1', 'a'], ['2', 'a'], ['3', 'a']);
    await becomes(ids.at(-1), 'delivered');
    expect(receiver.ids('/fine')).toEqual(ids);
    expect(receiver.ids('/failing')).toEqual(ids.flatMap((id) => [id, id, id]));
  });
});
