import { accountForEach, sharedApi } from '../../support/api.js';

describe('POST /messages/cancel responds 202', () => {
  const api = sharedApi();
  const account = accountForEach(api);

  const cancel = (body: object, by = account, headers = {}) => api.ask(by, 'POST /messages/cancel', body, headers);
  const sentWith = async (fields: object) => (await api.sent(account, { body: { message: 'hello', ...fields } })).id;
  const statusOf = async (id: string) => (await api.ask(account, `GET /messages/${id}`)).body.status;
  const hasJob = async (id: string) => (await api.sql('SELECT FROM bullmq.job WHERE id = $1', [id])).length > 0;
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();

  it.each<[string, object, number[]]>([
    ['a type', { type: 'order.paid' }, [1, 2]],
    ['all types that begin so', { type: 'order.*' }, [1, 2, 3]],
    ['every type, for an empty object', {}, [0, 1, 2, 3, 4]],
    ['every type, for null', { type: null, since: null, until: null }, [0, 1, 2, 3, 4]],
    ['no message', { type: 'user.created' }, []],
    ['a time that is over', { until: '2026-01-01T00:00:00Z' }, []],
    ['a time that is to come', { since: inAnHour }, []],
    ['the time of all of them', { since: '2026-01-01T00:00:00+01:00', until: inAnHour, type: 'order.*' }, [1, 2, 3]],
  ])('with the number of messages of %s, which are cancelled then', async (_what, filter, expected) => {
    const ids = [
      await sentWith({}),
      await sentWith({ type: 'order.paid' }),
      await sentWith({ type: 'order.paid', deliverAt: inAnHour }),
      await sentWith({ type: 'order.paid.late' }),
      await sentWith({ type: 'order' }),
    ];
    await api.relayed(ids[3] ?? '');
    const response = await cancel(filter);

    expect(response.status).toBe(202);
    expect(response.body).toEqual({ count: expected.length });
    for (const [index, id] of ids.entries()) {
      expect(await statusOf(id)).toBe(expected.includes(index) ? 'cancelled' : 'queued');
    }
    if (expected.includes(3)) expect(await hasJob(ids[3] ?? '')).toBe(false);
    expect((await cancel(filter)).body).toEqual({ count: 0 });
  });

  it('and leaves alone what is not queued, and messages of other accounts', async () => {
    const other = await api.signUp();
    const foreign = await api.sent(other);
    const ids = await Promise.all(
      ['processing', 'delivered', 'failed'].map(async (status) => {
        const id = await sentWith({});
        await api.become(id, status);
        return [id, status] as const;
      }),
    );
    expect((await cancel({})).body).toEqual({ count: 0 });
    for (const [id, status] of ids) expect(await statusOf(id)).toBe(status);
    expect((await api.ask(other, `GET /messages/${foreign.id}`)).body.status).toBe('queued');
  });

  it.each(['pull', 'webhooks'] as const)('and cancels messages for %s, which nobody gets then', async (delivery) => {
    await api.ask(account, 'PATCH /account', { delivery });
    if (delivery === 'webhooks')
      await api.ask(account, 'POST /endpoints', { url: 'https://example.com/never', enabled: true });
    const id = await sentWith({ deliverAt: inAnHour });
    expect((await cancel({})).body).toEqual({ count: 1 });
    expect((await api.ask(account, `GET /messages/${id}`)).body).toMatchObject({
      status: 'cancelled',
      nextAttemptAt: null,
    });
    const leased = await api.ask(account, 'POST /messages/lease', { max: 10, seconds: 60 });
    expect(leased.body).toEqual({ data: [] });
  });

  it('and counts like one request', async () => {
    const limited = await api.signUp({ perMinute: 100, perDay: 100 });
    await api.sendBatch(limited, { messages: Array<string>(20).fill('hello') });
    const { headers, body } = await cancel({}, limited);
    expect(body).toEqual({ count: 20 });
    expect(headers['x-ratelimit-remaining']).toBe('79');
  });

  it('again to a request with the same Idempotency-Key, even if there is more to cancel by then', async () => {
    const key = { 'idempotency-key': 'cancel-all' };
    await sentWith({});
    expect((await cancel({}, account, key)).body).toEqual({ count: 1 });
    const later = await sentWith({});
    const again = await cancel({}, account, key);
    expect(again.body).toEqual({ count: 1 });
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await statusOf(later)).toBe('queued');
  });

  it('and each is told as an event', async () => {
    await sentWith({ type: 'order.paid' });
    await api.sql(
      `INSERT INTO sluice.event_streams (account_id, place, token, open_until)
       VALUES ($1, 1, gen_random_uuid(), now() + interval '1 minute')`,
      [account.id],
    );
    await cancel({});
    const events = await api.sql('SELECT status FROM sluice.events WHERE account_id = $1', [account.id]);
    expect(events).toEqual([{ status: 'cancelled' }]);
  });
});
