import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

describe('GET /messages responds 400 validation_failed', () => {
  const api = sharedApi();
  const account = accountOf(api);
  beforeAll(async () => {
    await api.sent(account);
  });

  const encoded = (text: string) => Buffer.from(text).toString('base64url');

  it.each([
    ['limit', ['0', '101', '1000', '-1', '1.5', '1e1', '0x1', 'ten', '', '%201', '%00', '99999999999999999999']],
    [
      'cursor',
      ['', 'x', '%00', 'null', encoded('x'), encoded('acct_01h455vb4pex5vsknk084sn02q'), encoded("' OR '1'='1")],
    ],
    [
      'type',
      [
        ...[
          '',
          '*',
          'order*',
          'order.',
          '.order',
          '*.paid',
          'order.*.paid',
          'a.b.c.d.e*',
          'order%20paid',
          '%00',
          '%C3%A4',
        ],
        ...['order.paid%0A', 'order,paid', 'x'.repeat(129)],
      ],
    ],
    ['since', ['', '2026-11-21', '2026-11-21T10:00:00', 'now', '1795253400', '2026-02-30T00:00:00Z', '%00']],
    ['until', ['', '2026-11-21', '2026-11-21T10:00:00', 'now', '1795253400', '2026-02-30T00:00:00Z', '%00']],
    ['preview', ['', '0', '1001', '-1', '1.5', '1e1', '0x1', 'ten', '%201', '%00', 'true', '99999999999999999999']],
    ['status', ['', 'sent', 'Queued', 'queued,failed', '%00', 'toString', "queued'--"]],
  ])('to an invalid %s', async (name, values) => {
    for (const value of values) {
      const response = await api.ask(account, `GET /messages?${name}=${value}`);
      expect(expectProblem(response, 400, 'validation_failed').errors).toEqual([
        { pointer: '', detail: expect.stringMatching(`^${name} must be`) as string },
      ]);
    }
  });

  it.each([
    ...[
      'since=2026-11-21T10:00:00Z&until=2026-11-21T10:00:00Z',
      'since=2026-11-21T10:00:00Z&until=2026-11-21T09:00:00Z',
    ],
    'since=2026-11-21T10:00:00Z&until=2026-11-21T10:00:00%2B01:00',
  ])('to a time span that is empty: %s', async (query) => {
    const { errors } = expectProblem(await api.ask(account, `GET /messages?${query}`), 400, 'validation_failed');
    expect(errors).toEqual([{ pointer: '', detail: 'until must be after since.' }]);
  });

  it('to a type together with an endpoint', async () => {
    const query = 'endpointId=ep_01h455vb4pex5vsknk084sn02q&status=failed&type=order.paid';
    const { errors } = expectProblem(await api.ask(account, `GET /messages?${query}`), 400, 'validation_failed');
    expect(errors).toEqual([{ pointer: '', detail: 'type must not be given together with endpointId.' }]);
  });

  it.each([
    'limit=1&limit=1',
    'type=a&type=a',
    'until=2026-11-21T10:00:00Z&until=2026-11-21T10:00:00Z',
    'status=queued&status=queued',
    'limit[]=1&limit[]=2&limit=0',
  ])('to a parameter that is given twice: %s', async (query) => {
    expectProblem(await api.ask(account, `GET /messages?${query}`), 400, 'validation_failed');
  });

  it('and names every invalid parameter', async () => {
    const response = await api.ask(account, 'GET /messages?limit=0&cursor=x&status=x');
    expect(expectProblem(response, 400, 'validation_failed').errors).toHaveLength(3);
  });
});
