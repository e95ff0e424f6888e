import { accountOf, sharedApi } from '../../support/api.js';

describe('POST /messages with deliverAt responds 202', () => {
  const api = sharedApi();
  const account = accountOf(api);

  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
  const send = (deliverAt: string | null, message = 'hello', headers = {}) =>
    api.send(account, { body: JSON.stringify({ message, deliverAt }), headers });
  const read = async (id: unknown) => (await api.ask(account, `GET /messages/${String(id)}`)).body;
  const hasJob = async (id: unknown) => (await api.sql('SELECT FROM bullmq.job WHERE id = $1', [id])).length > 0;

  it('with its time, and the message waits without a job', async () => {
    const deliverAt = inMs(3_600_000);
    const response = await send(deliverAt);
    const { id } = response.body;

    expect(response.status).toBe(202);
    const { createdAt } = response.body;
    expect(response.body).toEqual({ id, message: 'hello', deliverAt, status: 'queued', createdAt });
    expect(await read(id)).toMatchObject({ status: 'queued', deliverAt, attempts: 0 });
    expect(await hasJob(id)).toBe(false);
    expect(await api.isQueued(String(id))).toBe(true);
  });

  it('and queues a message at once whose time has passed, or that has none', async () => {
    for (const deliverAt of [inMs(-1_000), '1999-12-31T23:59:59Z', null]) {
      await api.relayed(String((await send(deliverAt)).body.id));
    }
  });

  it('and queues the message when its time has come', async () => {
    const deliverAt = inMs(1_500);
    const { id } = (await send(deliverAt)).body;
    await api.relayed(String(id));
    const [job] = await api.sql<{ added: number }>(
      'SELECT added_at_ms::float8 AS added FROM bullmq.job WHERE id = $1',
      [id],
    );
    const lateMs = (job?.added ?? 0) - Date.parse(deliverAt);
    expect(lateMs).toBeGreaterThanOrEqual(0);
  });

  it('and can be cancelled until then: it gets no job', async () => {
    const { id } = (await send(inMs(3_600_000))).body;
    const response = await api.ask(account, `POST /messages/${String(id)}/cancel`);
    expect(response.body).toMatchObject({ status: 'cancelled' });
    const due = 'UPDATE sluice.outbox SET due_at = now() WHERE $1 = ANY (message_ids) RETURNING id';
    expect(await api.sql(due, [id])).toHaveLength(1);
    const { id: next } = (await send(inMs(1_000))).body;
    await api.relayed(String(next));
    expect(await hasJob(id)).toBe(false);
  });

  it('and replays the same time; another time is another request', async () => {
    const key = { 'idempotency-key': 'key' };
    const first = await send('2026-11-21T10:30:00+01:00', 'x', key);
    const again = await send('2026-11-21T09:30:00Z', 'x', key);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.bytes.equals(first.bytes)).toBe(true);
    expect(await read(first.body.id)).toMatchObject({ deliverAt: '2026-11-21T09:30:00.000Z' });
    expect((await send('2026-11-21T09:30:01Z', 'x', key)).status).toBe(422);
    expect((await send(null, 'x', key)).status).toBe(422);
  });

  it('and a retry of a failed message does not wait for a time that has passed', async () => {
    const { id } = (await send(inMs(-1_000))).body;
    await api.relayed(String(id));
    await api.become(String(id), 'failed');
    await api.ask(account, `POST /messages/${String(id)}/retry`);
    await api.relayed(String(id), `${String(id)}.1`);
  });

  it('for each message of a batch on its own', async () => {
    const later = inMs(3_600_000);
    const messages = [{ message: 'now' }, { message: 'later', deliverAt: later }, { message: 'null', deliverAt: null }];
    const response = await api.sendBatch(account, { body: JSON.stringify({ messages }) });
    const [now, delayed, none] = response.body.data as { id: string }[];
    await api.relayed(now?.id ?? '');
    await api.relayed(none?.id ?? '');
    expect(await hasJob(delayed?.id)).toBe(false);
    expect(await read(delayed?.id)).toMatchObject({ deliverAt: later });
  });
});
