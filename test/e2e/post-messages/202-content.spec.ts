import { accountOf, sharedApi } from '../../support/api.js';

const METADATA = JSON.parse('{"region":"eu","__proto__":"data","constructor":"","10":"ten"}') as Record<string, string>;
const CONTENT = { type: 'order.paid', metadata: METADATA, orderingKey: 'customer-17' };

describe('POST /messages with type, metadata and orderingKey responds 202', () => {
  const api = sharedApi();
  const account = accountOf(api);

  const send = (fields: object, headers = {}) =>
    api.send(account, { body: JSON.stringify({ message: 'hello', ...fields }), headers });
  const contentOf = ({ type, metadata, orderingKey }: Record<string, unknown>) => ({ type, metadata, orderingKey });

  it('with them, and shows them in the message, the list and the job', async () => {
    const { status, body } = await send(CONTENT);
    expect(status).toBe(202);
    expect(Object.keys(body)).toEqual(['id', 'message', 'type', 'metadata', 'orderingKey', 'status', 'createdAt']);
    expect(contentOf(body)).toEqual(CONTENT);

    const id = String(body.id);
    expect((await api.ask(account, `GET /messages/${id}`)).body).toMatchObject(CONTENT);
    const { data } = (await api.ask(account, 'GET /messages')).body as { data: { id: string }[] };
    expect(data.find((message) => message.id === id)).toMatchObject(CONTENT);
    await api.relayed(id);
    const [job] = await api.sql<{ data: string }>('SELECT data::text FROM bullmq.job WHERE id = $1', [id]);
    expect(JSON.parse(job?.data ?? '')).toMatchObject(CONTENT);
  });

  it.each([
    ['without them', {}],
    ['with null for each', { type: null, metadata: null, orderingKey: null, deliverAt: null }],
  ])('%s: it has the four fields only', async (_, fields) => {
    const { body } = await send(fields);
    expect(Object.keys(body)).toEqual(['id', 'message', 'status', 'createdAt']);
    const shown = (await api.ask(account, `GET /messages/${String(body.id)}`)).body;
    for (const name of Object.keys(CONTENT)) expect(shown).not.toHaveProperty([name]);
  });

  it('and keeps metadata without values', async () => {
    const { body } = await send({ metadata: {} });
    expect(body.metadata).toEqual({});
    expect((await api.ask(account, `GET /messages/${String(body.id)}`)).body).toMatchObject({ metadata: {} });
  });

  it.each([
    ['type', { type: 'order.sent' }],
    ['metadata', { metadata: { ...METADATA, region: 'us' } }],
    ['orderingKey', { orderingKey: 'customer-18' }],
    ['absent type', { type: null }],
  ])('and 422 when the key is reused with another %s', async (name, other) => {
    const key = { 'idempotency-key': `content-${name.replace(' ', '-')}` };
    const first = await send(CONTENT, key);
    const again = await send({ ...CONTENT, metadata: Object.fromEntries(Object.entries(METADATA).toReversed()) }, key);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.bytes.equals(first.bytes)).toBe(true);
    expect(await send({ ...CONTENT, ...other }, key)).toMatchObject({ status: 422 });
  });
});
