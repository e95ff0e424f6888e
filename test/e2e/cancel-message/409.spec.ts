import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

describe('POST /messages/:id/cancel responds 409 invalid_transition', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it.each(['processing', 'delivered', 'failed', 'cancelled'])(
    'to a message that is %s, and leaves it unchanged',
    async (status) => {
      const { id } = await api.sent(account);
      await api.become(id, status);
      const before = await api.ask(account, `GET /messages/${id}`);
      const answer = await api.ask(account, `POST /messages/${id}/cancel`);
      const after = await api.ask(account, `GET /messages/${id}`);

      expect(expectProblem(answer, 409, 'invalid_transition').detail).toContain(`is ${status}`);
      expect(after.bytes.equals(before.bytes)).toBe(true);
    },
  );
});
