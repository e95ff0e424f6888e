import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

const STATUSES = ['queued', 'processing', 'delivered', 'failed', 'cancelled'];

describe.each([
  ['cancel', 'queued'],
  ['retry', 'failed'],
])('POST /messages/:id/%s responds 409 invalid_transition', (action, allowed) => {
  const api = sharedApi();
  const account = accountOf(api);

  it.each(STATUSES.filter((status) => status !== allowed))(
    'to a message that is %s, and leaves it unchanged',
    async (status) => {
      const { id } = await api.sent(account);
      await api.become(id, status);
      const before = await api.ask(account, `GET /messages/${id}`);
      const response = await api.ask(account, `POST /messages/${id}/${action}`);
      const after = await api.ask(account, `GET /messages/${id}`);

      expect(expectProblem(response, 409, 'invalid_transition').detail).toContain(`is ${status}`);
      expect(after.bytes.equals(before.bytes)).toBe(true);
    },
  );
});
