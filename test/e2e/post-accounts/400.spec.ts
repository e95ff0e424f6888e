import { expectProblem, sharedApi } from '../../support/api.js';

describe('POST /accounts responds 400 and stores nothing', () => {
  const api = sharedApi();
  // Accounts that the file before has deleted may be forgotten meanwhile.
  const stored = () =>
    api.sql(
      `SELECT a.id, array_agg(k.id ORDER BY k.id) AS keys
       FROM sluice.accounts a LEFT JOIN sluice.api_keys k ON k.account_id = a.id WHERE NOT deleting
       GROUP BY a.id ORDER BY a.id`,
    );
  let before: unknown;
  beforeAll(async () => {
    before = await stored();
  });
  afterEach(async () => {
    expect(await stored()).toEqual(before);
  });

  it.each([
    ['is missing', {}],
    ['is null', { name: null }],
    ['is a number', { name: 1 }],
    ['is blank', { name: ' \t\u00a0' }],
    ['has 101 characters', { name: 'a'.repeat(101) }],
    ['holds U+0000', { name: 'a\u0000' }],
  ])('validation_failed when the name %s', async (_name, body) => {
    const { errors } = expectProblem(await api.ask(null, 'POST /accounts', body), 400, 'validation_failed');
    expect(errors).toEqual([{ pointer: '/name', detail: expect.stringMatching(/^name /) as string }]);
  });

  it.each([
    ['validation_failed', 'application/json', 'null'],
    ['validation_failed', 'application/json', '[]'],
    ['invalid_json', 'application/json', ''],
    ['invalid_json', 'application/json', '{"name":"Acme"'],
    ['invalid_content_type', 'text/plain', '{"name":"Acme"}'],
    ['invalid_content_type', undefined, '{"name":"Acme"}'],
  ])('%s to %s %s', async (code, type, body) => {
    expectProblem(await api.ask(null, 'POST /accounts', body, { 'content-type': type }), 400, code);
  });
});
