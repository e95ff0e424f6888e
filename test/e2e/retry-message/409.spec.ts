import { expectProblem, startTestApi, type TestAccount, type TestApi } from '../../support/api.js';

describe('POST /messages/:id/retry answers 409 invalid_transition', () => {
  let api: TestApi;
  let account: TestAccount;

  beforeAll(async () => {
    api = await startTestApi();
    account = await api.signUp();
  });
  afterAll(() => api.stop());

  it.each(['processing', 'delivered', 'cancelled', 'queued'])(
    'to a message that is %s, says so, and leaves it alone',
    async (status) => {
      const { id } = await api.sent(account);
      await api.become(id, status);
      const before = await api.as(account, { path: `/messages/${id}` });
      const answer = await api.as(account, { method: 'POST', path: `/messages/${id}/retry` });
      const after = await api.as(account, { path: `/messages/${id}` });

      expect(expectProblem(answer, 409, 'invalid_transition').detail).toContain(`is ${status}`);
      expect(after.bytes.equals(before.bytes)).toBe(true);
    },
  );
});
