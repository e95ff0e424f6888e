import { accountOf, expectProblem, OPERATOR, sharedApi } from '../../support/api.js';

describe('A field that must be an array', () => {
  const api = sharedApi();
  const account = accountOf(api);

  const FIELDS: [route: string, field: string, others: object][] = [
    ['POST /api-keys', 'scopes', { name: 'CI' }],
    ['POST /endpoints', 'types', { url: 'https://example.com/' }],
    ['POST /messages/ack', 'leases', {}],
    ['POST /messages/batch', 'messages', {}],
    ['POST /admin/accounts/:id/portal-links', 'scopes', {}],
  ];

  it.each(FIELDS)('is called one if it is anything else: %s %s', async (route, field, others) => {
    const caller = route.includes('/admin/') ? OPERATOR : account;
    for (const value of ['messages:read', '', 1, true, {}, { 0: 'messages:read', length: 1 }]) {
      const response = await api.ask(caller, route.replace(':id', account.id), { ...others, [field]: value });
      const { errors } = expectProblem(response, 400, 'validation_failed');
      expect(errors).toEqual([
        { pointer: `/${field}`, detail: expect.stringMatching(`^${field} must be an array`) as string },
      ]);
    }
  });
});
