import { accountForEach, expectProblem, joinedApi, OPERATOR, sharedApi } from '../../support/api.js';
import { Fleet } from '../../support/fleet.js';
import { RawConnection } from '../../support/http.js';
import { until } from '../../support/processes.js';

describe('PATCH /admin/accounts/:id with suspended', () => {
  const api = sharedApi();
  const other = joinedApi(api);
  const account = accountForEach(api, { perMinute: 9, perDay: 99 });

  const patch = (suspended: unknown) => api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { suspended });

  it('refuses all keys of the account with the next request on every process, until it is resumed', async () => {
    const second = await api.createKey(account.key, { scopes: ['messages:read'] });
    for (const process of [api, other]) expect((await process.ask(account.key)).status).toBe(200);
    expect((await patch(true)).body).toMatchObject({ id: account.id, plan: 'enterprise', suspended: true });
    for (const process of [api, other]) {
      for (const key of [account.key, second.key]) {
        expectProblem(await process.ask(key, 'GET /messages'), 403, 'account_suspended');
      }
    }
    expect((await api.ask(OPERATOR, `GET /admin/accounts/${account.id}`)).body).toMatchObject({ suspended: true });
    expect((await patch(false)).body).toMatchObject({ suspended: false });
    for (const process of [api, other]) expect((await process.ask(account.key)).status).toBe(200);
  });

  it('counts what it refuses, and checks it after the limits and before the scope and the body', async () => {
    await patch(true);
    const { key } = account;
    for (let remaining = 8; remaining >= 0; remaining--) {
      const response = await api.ask(key, 'POST /messages', '{');
      expectProblem(response, 403, 'account_suspended');
      expect(response.headers['x-ratelimit-remaining']).toBe(String(remaining));
    }
    expectProblem(await api.ask(key), 429, 'rate_limit_exceeded');
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });

  it('refuses a batch whose body arrives after the suspension, and stores nothing', async () => {
    const body = '{"messages":[{"message":"a"},{"message":"b"}]}';
    const head = `POST /messages/batch HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${account.key}\r\n`;
    const connection = await RawConnection.open(api.url);
    connection.write(
      `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    expect((await connection.response()).status).toBe(100);
    await patch(true);
    connection.write(body);
    expectProblem(await connection.response(), 403, 'account_suspended');
    connection.close();
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });

  it.each(['yes', 1, 0, 'true'])('responds 400 to %j', async (suspended) => {
    const { errors } = expectProblem(await patch(suspended), 400, 'validation_failed');
    expect(errors).toEqual([{ pointer: '/suspended', detail: 'suspended must be true or false.' }]);
  });
});

describe('The worker', () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await Fleet.start({ BACKOFF_MS: '3000', WORKER_CONCURRENCY: '2' });
  });
  afterAll(() => fleet.stop());

  it('does not get the messages of a suspended account, nor those of retries and of schedules', async () => {
    const { client } = fleet;
    const suspend = (suspended: boolean) =>
      client.ask(OPERATOR, `PATCH /admin/accounts/${fleet.account.id}`, { suspended });
    const failing = await fleet.send('throw');
    const worker = await fleet.worker();
    await until(() => fleet.began(failing, 1));
    worker.signal('SIGSTOP');
    const queued = await Promise.all(Array.from({ length: 20 }, () => fleet.send('hello')));
    const deliverAt = new Date(Date.now() + 1_000).toISOString();
    const scheduled = (await client.sent(fleet.account, { body: { message: 'later', deliverAt } })).id;
    await suspend(true);
    worker.signal('SIGCONT');

    const waiting = [failing, ...queued, scheduled];
    const count = 'SELECT count(*)::int AS count FROM sluice.outbox WHERE suspended_account IS NOT NULL';
    await until(async () => (await fleet.sql<{ count: number }>(count))[0]?.count === waiting.length);
    expect(await fleet.census()).toBe(0);
    // The worker finishes a job after it has set its message aside.
    await until(async () => (await fleet.sql('SELECT FROM bullmq.job')).length === 0);
    // The places of the worker are free for others.
    const neighbour = await client.signUp();
    const { id } = await client.sent(neighbour);
    await until(() => fleet.began(id, 1));
    expect(fleet.handled().map((call) => call.id)).toEqual([failing, id]);

    await suspend(false);
    await until(() => waiting.every((one) => fleet.began(one, one === failing ? 2 : 1)));
    for (const one of [...queued, scheduled]) {
      await until(async () => (await fleet.message(one)).status === 'delivered');
      expect(await fleet.message(one)).toMatchObject({ attempts: 1 });
    }
    expect(await fleet.census()).toBe(0);
  });
});
