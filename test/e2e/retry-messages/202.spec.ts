import { accountForEach, sharedApi } from '../../support/api.js';

describe('POST /messages/retry responds 202', () => {
  const api = sharedApi();
  const account = accountForEach(api);

  const retry = (since: string, until: string, by = account) => api.ask(by, 'POST /messages/retry', { since, until });
  const minutes = (count: number) => new Date(Date.now() + count * 60_000).toISOString();

  it('with how many messages are queued again, each under its id with a new job', async () => {
    const sent = [await api.sent(account), await api.sent(account), await api.sent(account)];
    for (const { id } of sent) await api.relayed(id);
    const [one, two, three] = sent.map(({ id }) => id) as [string, string, string];
    for (const id of [one, two]) await api.become(id, 'failed');
    await api.become(three, 'delivered');
    const response = await retry(minutes(-1), minutes(1));

    expect(response.status).toBe(202);
    expect(response.body).toEqual({ count: 2 });
    for (const id of [one, two]) {
      await api.relayed(id, `${id}.1`);
      const message = (await api.ask(account, `GET /messages/${id}`)).body;
      expect(message).toMatchObject({ id, status: 'queued', attempts: 1, failureReason: null });
    }
    expect((await retry(minutes(-1), minutes(1))).body).toEqual({ count: 0 });
  });

  it('with none of another time, or of another account', async () => {
    const { id } = await api.sent(account);
    await api.become(id, 'failed');
    expect((await retry(minutes(1), minutes(2))).body).toEqual({ count: 0 });
    expect((await retry('1960-01-01T00:00:00Z', minutes(-1))).body).toEqual({ count: 0 });
    expect((await retry(minutes(-1), minutes(1), await api.signUp())).body).toEqual({ count: 0 });
  });

  it('with offsets as they are meant', async () => {
    const { id, createdAt } = await api.sent(account);
    await api.become(id, 'failed');
    const local = (ms: number) => new Date(Date.parse(createdAt) + ms + 3_600_000).toISOString().replace('Z', '+01:00');
    expect((await retry(local(1), local(2))).body).toEqual({ count: 0 });
    expect((await retry(local(0), local(1))).body).toEqual({ count: 1 });
  });
});
