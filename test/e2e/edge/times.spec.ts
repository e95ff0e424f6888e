import { accountOf, sharedApi } from '../../support/api.js';

/** Times of RFC 3339, and the instants that they are. */
const RIGHT = [
  ['2028-02-29T12:00:00Z', '2028-02-29T12:00:00.000Z'],
  ['2030-01-31T12:00:00+05:45', '2030-01-31T06:15:00.000Z'],
  ['2030-01-01T00:30:00+01:00', '2029-12-31T23:30:00.000Z'],
  ['2030-01-31T12:00:00-00:00', '2030-01-31T12:00:00.000Z'],
  ['2030-01-31T12:00:00.5Z', '2030-01-31T12:00:00.500Z'],
  ['2030-01-31T12:00:00.123456789Z', '2030-01-31T12:00:00.123Z'],
  ['2030-01-31T23:59:59.999+23:59', '2030-01-31T00:00:59.999Z'],
] as const;

const WRONG = [
  ...[
    '2030-11-31T07:00:00Z',
    '2030-02-29T07:00:00Z',
    '2100-02-29T07:00:00Z',
    '2030-00-10T07:00:00Z',
    '2030-13-01T07:00:00Z',
  ],
  ...[
    '2030-01-00T07:00:00Z',
    '2030-01-31T24:00:00Z',
    '2030-01-31T12:60:00Z',
    '2030-12-31T23:59:60Z',
    '2030-01-31T12:00:61Z',
  ],
  ...[
    '2030-01-31T12:00:00',
    '2030-01-31',
    '2030-01-31T12:00Z',
    '2030-01-31T12Z',
    '2030-01-31 12:00:00Z',
    '30-01-31T12:00:00Z',
  ],
  ...['2030-01-31T12:00:00Z (CET)', '2030-01-31T12:00:00 (CET)', '2030-01-31T12:00:00+0100', '2030-01-31T12:00:00+01'],
  ...['2030-01-31T12:00:00+24:00', '2030-01-31T12:00:00+01:60', '2030-01-31T12:00:00,5Z', '2030-01-31T12:00:00.Z'],
  ...[
    '20300131T120000Z',
    '2030-W05-4T12:00:00Z',
    '2030-031T12:00:00Z',
    '+012030-01-31T12:00:00Z',
    '12030-01-31T12:00:00Z',
  ],
  ...[
    '1895266889',
    '1895266889000',
    '',
    ' ',
    'now',
    '2030-01-31T12:00:00Z\n',
    ' 2030-01-31T12:00:00Z',
    '٢٠٣٠-٠١-٣١T12:00:00Z',
  ],
  ...[
    '9999-12-31T23:59:59-01:00',
    '0001-01-01T00:00:00+01:00',
    '2030-01-31T12:00:00−01:00',
    'Thu, 31 Jan 2030 12:00:00 GMT',
  ],
];
const NOT_A_TEXT = [1_895_266_889, true, {}, ['2030-01-31T12:00:00Z']];

describe('A time in a body', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it.each(RIGHT)('is %s: %s', async (text, expected) => {
    const created = await api.ask(account, 'POST /api-keys', { name: 'k', expiresAt: text });
    expect([created.status, created.body.expiresAt]).toEqual([201, expected]);
    await api.ask(account, `DELETE /api-keys/${String(created.body.id)}`);
    const retried = await api.ask(account, 'POST /messages/retry', { since: '2020-01-01T00:00:00Z', until: text });
    expect(retried.status).toBe(202);
  });

  it.each([...WRONG, ...NOT_A_TEXT])('is refused wherever there is one: %j', async (value) => {
    const until = '2030-01-01T00:00:00Z';
    for (const [request, body, pointer] of [
      ['POST /messages', { message: 'x', deliverAt: value }, '/deliverAt'],
      ['POST /messages/batch', { messages: [{ message: 'x', deliverAt: value }] }, '/messages/0/deliverAt'],
      ['POST /api-keys', { name: 'k', expiresAt: value }, '/expiresAt'],
      ['POST /messages/retry', { since: value, until }, '/since'],
      ['POST /messages/retry', { since: '2020-01-01T00:00:00Z', until: value }, '/until'],
      ['POST /endpoints/ep_01m7z3xhqzeywbegcvm7ee64q0/replay', { since: value, until }, '/since'],
    ] as const) {
      const { status, body: problem } = await api.ask(account, request, body);
      expect({ request, status, errors: problem.errors }).toEqual({
        ...{ request, status: 400 },
        errors: [{ pointer, detail: expect.stringMatching(/must be a time like/) as string }],
      });
    }
  });
});
