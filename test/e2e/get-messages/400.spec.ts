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
    ['status', ['', 'sent', 'Queued', 'queued,failed', '%00', 'toString', "queued'--"]],
  ])('to an invalid %s', async (name, values) => {
    for (const value of values) {
      const response = await api.ask(account, `GET /messages?${name}=${value}`);
      expect(expectProblem(response, 400, 'validation_failed').errors).toEqual([
        { pointer: '', detail: expect.stringMatching(`^${name} must be`) as string },
      ]);
    }
  });

  it.each(['limit=1&limit=1', 'status=queued&status=queued', 'limit[]=1&limit[]=2&limit=0'])(
    'to a parameter that is given twice: %s',
    async (query) => {
      expectProblem(await api.ask(account, `GET /messages?${query}`), 400, 'validation_failed');
    },
  );

  it('and names every invalid parameter', async () => {
    const response = await api.ask(account, 'GET /messages?limit=0&cursor=x&status=x');
    expect(expectProblem(response, 400, 'validation_failed').errors).toHaveLength(3);
  });
});
