import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

const names = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`name-${index}`, 'x'])));

/** A field as JSON, and a part of the reason. */
const REFUSED: readonly (readonly [string, string, string])[] = [
  ['type', '""', 'words'],
  ['type', '"."', 'words'],
  ['type', '"order."', 'words'],
  ['type', '".order"', 'words'],
  ['type', '"order..paid"', 'words'],
  ['type', '"order.*"', 'words'],
  ['type', '"order paid"', 'words'],
  ['type', '"order\\npaid"', 'words'],
  ['type', '"order.paid\\n"', 'words'],
  ['type', '"örder"', 'words'],
  ['type', '"order\\u0000"', 'words'],
  ['type', '"\\ud800"', 'words'],
  ['type', `"${'x'.repeat(129)}"`, 'at most 128'],
  ['type', '"sluice"', 'reserved'],
  ['type', '"sluice.message.failed"', 'reserved'],
  ['type', '17', 'a string'],
  ['type', 'true', 'a string'],
  ['type', '["order.paid"]', 'a string'],
  ['type', '{"toString":"order"}', 'a string'],
  ['metadata', '"region=eu"', 'an object'],
  ['metadata', '17', 'an object'],
  ['metadata', '[]', 'an object'],
  ['metadata', '[["region","eu"]]', 'an object'],
  ['metadata', '{"region":{"name":"eu"}}', 'be strings'],
  ['metadata', '{"region":["eu"]}', 'be strings'],
  ['metadata', '{"region":17}', 'be strings'],
  ['metadata', '{"region":null}', 'be strings'],
  ['metadata', '{"region":true}', 'be strings'],
  ['metadata', '{"__proto__":{"region":"eu"}}', 'be strings'],
  ['metadata', '{"__proto__":null}', 'be strings'],
  ['metadata', names(51), 'at most 50'],
  ['metadata', '{"":"eu"}', '1 to 40'],
  ['metadata', `{"${'x'.repeat(41)}":"eu"}`, '1 to 40'],
  ['metadata', `{"${'💌'.repeat(41)}":"eu"}`, '1 to 40'],
  ['metadata', `{"region":"${'x'.repeat(501)}"}`, 'at most 500'],
  ['metadata', `{"region":"${'💌'.repeat(501)}"}`, 'at most 500'],
  ['metadata', '{"region":"a\\u0000b"}', 'U+0000'],
  ['metadata', '{"re\\u0000gion":"eu"}', 'U+0000'],
  ['metadata', '{"region":"\\ud800"}', 'surrogates'],
  ['metadata', '{"\\udc00":"eu"}', 'surrogates'],
  ['orderingKey', '""', 'visible ASCII'],
  ['orderingKey', '" "', 'visible ASCII'],
  ['orderingKey', '"customer 17"', 'visible ASCII'],
  ['orderingKey', '"kunde-ä"', 'visible ASCII'],
  ['orderingKey', '"a\\u0000"', 'visible ASCII'],
  ['orderingKey', '"a\\n"', 'visible ASCII'],
  ['orderingKey', '"a\\u007f"', 'visible ASCII'],
  ['orderingKey', `"${'x'.repeat(129)}"`, '1 to 128'],
  ['orderingKey', '17', 'a string'],
  ['orderingKey', '{"customer":17}', 'a string'],
  ['orderingKey', '["customer-17"]', 'a string'],
];

/** A field as JSON, and how it is shown. */
const ACCEPTED: readonly (readonly [string, string, unknown])[] = [
  ['type', '"Order_1-x.Paid"', 'Order_1-x.Paid'],
  ['type', `"${'x'.repeat(128)}"`, 'x'.repeat(128)],
  ['type', '"sluices.paid"', 'sluices.paid'],
  ['metadata', '{"region":"us","region":"eu"}', { region: 'eu' }],
  ['metadata', names(50), JSON.parse(names(50))],
  ['metadata', `{"${'💌'.repeat(40)}":"${'💌'.repeat(500)}"}`, { ['💌'.repeat(40)]: '💌'.repeat(500) }],
  [
    'metadata',
    '{"__proto__":"a","constructor":"b","toString":""}',
    JSON.parse('{"__proto__":"a","constructor":"b","toString":""}'),
  ],
  ['metadata', '{"/~0 \\" \\u001b":"\\u001b[31m\\r\\n\\u202e"}', { '/~0 " \u001b': '\u001b[31m\r\n\u202e' }],
  ['orderingKey', '"!~{}\\"\\\\"', '!~{}"\\'],
  ['orderingKey', `"${'x'.repeat(128)}"`, 'x'.repeat(128)],
];

/** Names such as `__proto__` are compared as well. */
const entriesOf = (value: unknown) =>
  typeof value === 'object' && value !== null ? Object.entries(value).sort() : value;

describe.each([
  ['POST /messages', (fields: string) => `{"message":"x"${fields}}`, ''],
  [
    'POST /messages/batch',
    (fields: string) => `{"messages":[{"message":"x"},{"message":"x"${fields}},{"message":"x"}]}`,
    '/messages/1',
  ],
])('%s', (route, bodyOf, place) => {
  const api = sharedApi();
  const account = accountOf(api);

  it.each(REFUSED)('responds 400 to the %s %s, with a pointer to it', async (field, json, why) => {
    const before = await api.stored(account);
    const response = await api.ask(account, route, bodyOf(`,"${field}":${json}`));
    const { errors } = expectProblem(response, 400, 'validation_failed');
    expect(errors).toEqual([{ pointer: `${place}/${field}`, detail: expect.stringContaining(why) as string }]);
    expect(await api.stored(account)).toEqual(before);
  });

  it('responds 400 with a pointer to each field that is refused', async () => {
    const fields = ',"type":"*","metadata":[],"orderingKey":" ","deliverAt":"soon"';
    const { errors } = expectProblem(await api.ask(account, route, bodyOf(fields)), 400, 'validation_failed');
    const pointers = (errors as { pointer: string }[]).map(({ pointer }) => pointer);
    expect(pointers.sort()).toEqual(
      ['deliverAt', 'metadata', 'orderingKey', 'type'].map((field) => `${place}/${field}`),
    );
  });

  it.each(ACCEPTED)('accepts the %s %s, and shows it as it was sent', async (field, json, expected) => {
    const { status, body } = await api.ask(account, route, bodyOf(`,"${field}":${json}`));
    expect(status).toBe(202);
    const accepted = (place === '' ? body : (body.data as unknown[])[1]) as Record<string, unknown>;
    expect(entriesOf(accepted[field])).toEqual(entriesOf(expected));
    const { body: shown } = await api.ask(account, `GET /messages/${String(accepted.id)}`);
    expect(shown[field]).toEqual(accepted[field]);
  });
});
