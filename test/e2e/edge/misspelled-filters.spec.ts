import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

const PERIOD = { since: '2020-01-01T00:00:00Z', until: '2100-01-01T00:00:00Z' };
const ROUTES: [string, object, string[]][] = [
  ['POST /messages/cancel', {}, ['type', 'since', 'until']],
  ['POST /messages/retry', PERIOD, ['type', 'since', 'until']],
  ['POST /endpoints/ep_01m7z3xhqzeywbegcvm7ee64q0/replay', PERIOD, ['since', 'until']],
];
const UNKNOWN: [string, unknown, string?][] = [
  ['tpye', 'order.paid'],
  ['Type', 'order.paid'],
  ['types', ['order.paid']],
  ['orderingKey', 'customer-17'],
  ['ids', ['msg_x']],
  ['endpointId', null],
  ['before', '2020-01-01T00:00:00Z'],
  ['untill', '2020-01-01T00:00:00Z'],
  ['', 1],
  ['__proto__', {}],
  ['a/b~c', 1, '/a~1b~0c'],
];

describe.each(ROUTES)('%s, which selects messages,', (route, body, fields) => {
  const api = sharedApi();
  const account = accountOf(api);
  const errorsOf = async (request: string, filter: object) =>
    expectProblem(await api.ask(account, request, filter), 400, 'validation_failed').errors;

  it.each(UNKNOWN)('refuses the unknown field %j', async (field, value, pointer = `/${field}`) => {
    const detail = `The body takes only these fields: ${fields.join(', ')}.`;
    expect(await errorsOf(route, { ...body, [field]: value })).toEqual([{ pointer, detail }]);
  });

  it('names ten of many', async () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}`, 1]));
    expect(await errorsOf(route, { ...body, ...many })).toHaveLength(10);
  });

  it.each(fields)('refuses %s in the query', async (field) => {
    const errors = [{ pointer: '', detail: `${field} must be in the body, not in the query.` }];
    expect(await errorsOf(`${route}?${field}=order.paid&x=y`, body)).toEqual(errors);
  });

  it('changes nothing by it, and takes null for a filter that is not given', async () => {
    const { id } = await api.sent(account, { body: { message: 'x', type: 'invoice.sent' } });
    await errorsOf(route, { ...body, tpye: 'order.paid' });
    expect((await api.ask(account, `GET /messages/${id}`)).body.status).toBe('queued');
    const { status } = await api.ask(account, route, { ...body, [fields.includes('type') ? 'type' : 'until']: null });
    expect(status).toBe(route.includes('endpoints') ? 404 : 202);
  });
});
