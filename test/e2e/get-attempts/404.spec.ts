import { expectProblem, sharedApi } from '../../support/api.js';

describe('GET /messages/:id/attempts responds 404 message_not_found', () => {
  const api = sharedApi();

  it('to an id that nobody has, that is none, or of a message of another account', async () => {
    const [account, other] = [await api.signUp(), await api.signUp()];
    const { id } = await api.sent(other);
    for (const unknown of [id, id.replace(/.$/, '0'), 'any', '%00']) {
      const answer = await api.ask(account, `GET /messages/${unknown}/attempts`);
      expectProblem(answer, 404, 'message_not_found');
    }
  });
});
