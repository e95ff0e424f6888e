import { setTimeout as sleep } from 'node:timers/promises';
import { accountForEach, expectProblem, joinedApi, OPERATOR, sharedApi } from '../../support/api.js';
import { Consumer } from '../../support/consumer.js';
import { metricsOf } from '../../support/metrics.js';
import { until } from '../../support/processes.js';

describe('PATCH /account with paused', () => {
  const api = sharedApi();
  const other = joinedApi(api);
  const account = accountForEach(api);
  const consumer = new Consumer(api, account);

  const pause = (paused: unknown) => api.ask(account, 'PATCH /account', { paused });
  const waits = (process = api) =>
    until(async () => (await metricsOf(process.managementUrl)).get('sluice_leases_waiting') === 1);
  const pull = () => api.ask(account, 'PATCH /account', { delivery: 'pull' });

  it('responds 200 with the account, as everybody then sees it, however often it is repeated', async () => {
    const before = (await api.ask(account)).body;
    expect(before).toMatchObject({ paused: false });
    for (const paused of [true, true, false, false]) {
      expect(await pause(paused)).toMatchObject({ status: 200, body: { ...before, paused } });
      for (const process of [api, other]) expect((await process.ask(account)).body).toEqual({ ...before, paused });
      expect((await api.ask(OPERATOR, `GET /admin/accounts/${account.id}`)).body).toMatchObject({ paused });
    }
  });

  it.each([{}, { paused: null }, { delivery: 'pull' }])('stays as it is after %j', async (body) => {
    await pause(true);
    expect((await api.ask(account, 'PATCH /account', body)).body).toMatchObject({ paused: true });
    await api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { plan: 'pro' });
    await api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { suspended: true });
    await api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { suspended: false });
    expect((await api.ask(account)).body).toMatchObject({ paused: true, plan: 'pro' });
  });

  it('changes with the mode of delivery, in one request', async () => {
    expect((await api.ask(account, 'PATCH /account', { paused: true, delivery: 'webhooks' })).body).toMatchObject({
      ...{ paused: true, delivery: 'webhooks' },
    });
  });

  it.each(['true', 'yes', 1, 0, [], {}])('responds 400 validation_failed to %j, pointing at it', async (paused) => {
    const { errors } = expectProblem(await pause(paused), 400, 'validation_failed');
    expect(errors).toEqual([{ pointer: '/paused', detail: 'paused must be true or false.' }]);
    expect((await api.ask(account)).body).toMatchObject({ paused: false });
  });

  it('responds 403 insufficient_scope to a key without account:manage', async () => {
    const { key } = await api.createKey(account, { scopes: ['messages:send', 'messages:consume'] });
    expectProblem(await api.ask(key, 'PATCH /account', { paused: true }), 403, 'insufficient_scope');
  });

  it('is what operators can do, too', async () => {
    const patch = (paused: unknown) => api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { paused });
    expect((await patch(true)).body).toMatchObject({ paused: true, suspended: false });
    expect((await api.ask(account)).body).toMatchObject({ paused: true });
    const { errors } = expectProblem(await patch('true'), 400, 'validation_failed');
    expect(errors).toEqual([{ pointer: '/paused', detail: 'paused must be true or false.' }]);
    expect((await patch(false)).body).toMatchObject({ paused: false });
  });

  it('lets messages be sent, read, cancelled and retried, with every key', async () => {
    await pause(true);
    const sent = await api.sent(account);
    expect(sent.status).toBe('queued');
    expect((await api.sendBatch(account, { messages: ['a', 'b'] })).status).toBe(202);
    const failed = await api.sent(account);
    await api.become(failed.id, 'failed');
    expect((await api.ask(account, `POST /messages/${failed.id}/retry`)).status).toBe(202);
    expect((await api.ask(account, `POST /messages/${sent.id}/cancel`)).body).toMatchObject({ status: 'cancelled' });
    expect((await api.ask(account, 'GET /messages')).body.data).toHaveLength(4);
  });

  it('adds no job to the queue until it ends, so that foreign workers get none', async () => {
    await pause(true);
    const sent = await api.sent(account);
    const free = await api.signUp();
    await api.relayed((await api.sent(free)).id);
    expect(await api.sql('SELECT FROM bullmq.job WHERE id = $1', [sent.id])).toEqual([]);
    await pause(false);
    await api.relayed(sent.id);
  });

  it('lets leases be empty, which say so, until it ends', async () => {
    await pull();
    const { id } = await api.sent(account);
    expect((await new Consumer(other, account).request({ max: 1 })).body.paused).toBeUndefined();
    const next = await api.sent(account);
    await pause(true);
    for (const process of [api, other]) {
      expect((await new Consumer(process, account).request()).body).toEqual({ data: [], paused: true });
    }
    await pause(false);
    expect((await consumer.lease()).map((leased) => leased.id)).toEqual([next.id]);
    expect((await consumer.request()).body).toEqual({ data: [] });
    expect((await api.ask(account, `GET /messages/${id}`)).body).toMatchObject({ status: 'processing', attempts: 1 });
  });

  it('lets a lease that was given before be extended, acknowledged and rejected', async () => {
    await pull();
    for (const message of ['a', 'b']) await api.sent(account, { message });
    const [one, two] = await consumer.lease();
    if (one === undefined || two === undefined) throw new Error('Nothing was leased.');
    await pause(true);
    expect((await consumer.extend(one, 60)).status).toBe(200);
    expect((await consumer.ack(one)).status).toBe(204);
    expect((await consumer.nack(two, { delaySeconds: 0 })).status).toBe(204);
    expect(await consumer.lease()).toEqual([]);
    await pause(false);
    expect(await consumer.lease({ wait: 5 })).toMatchObject([{ id: two.id, attempt: 2 }]);
  });

  it('lets a lease wait, which gets messages at once when it ends, on every process', async () => {
    await pull();
    await pause(true);
    const { id } = await api.sent(account);
    const waiting = new Consumer(other, account).request({ wait: 20 });
    await waits(other);
    await sleep(300);
    const resumedAt = performance.now();
    await pause(false);
    expect((await waiting).body).toMatchObject({ data: [{ id, attempt: 1 }] });
    expect(performance.now() - resumedAt).toBeLessThan(10_000);
  });

  it('lets a lease that waits in vain say so, also one that began before it', async () => {
    await pull();
    const waiting = consumer.request({ wait: 5 });
    await waits();
    await pause(true);
    await api.sent(account);
    expect((await waiting).body).toEqual({ data: [], paused: true });
  });
});
