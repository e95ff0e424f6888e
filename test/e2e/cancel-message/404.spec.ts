import { accountOf, expectProblem, sharedApi } from '../../support/api.js';

describe('POST /messages/:id/cancel responds 404 message_not_found', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it.each(['msg_01h455vb4pex5vsknk084sn02q', 'any', '%00'])('to the unknown id %s', async (id) => {
    const answer = await api.ask(account, `POST /messages/${id}/cancel`);
    expectProblem(answer, 404, 'message_not_found');
  });

  it("to another account's id, and leaves its message unchanged", async () => {
    const other = await api.signUp();
    const { id } = await api.sent(account);
    const answer = await api.ask(other, `POST /messages/${id}/cancel`);

    expectProblem(answer, 404, 'message_not_found');
    expect((await api.ask(account, `GET /messages/${id}`)).body.status).toBe('queued');
  });
});
