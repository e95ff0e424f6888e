import { expectProblem, startTestApi, type TestAccount, type TestApi } from '../../support/api.js';
import { jsonOf } from '../../support/http.js';

describe('POST /messages/:id/retry answers 404 message_not_found', () => {
  let api: TestApi;
  let account: TestAccount;

  beforeAll(async () => {
    api = await startTestApi();
    account = await api.signUp();
  });
  afterAll(() => api.stop());

  it.each(['msg_01h455vb4pex5vsknk084sn02q', 'any', '%00'])('to the unknown id %s', async (id) => {
    const answer = await api.as(account, { method: 'POST', path: `/messages/${id}/retry` });
    expectProblem(answer, 404, 'message_not_found');
  });

  it("to another account's id, and leaves its message alone", async () => {
    const other = await api.signUp();
    const { id } = await api.sent(account);
    await api.become(id, 'failed');
    const answer = await api.as(other, { method: 'POST', path: `/messages/${id}/retry` });

    expectProblem(answer, 404, 'message_not_found');
    expect(jsonOf(await api.as(account, { path: `/messages/${id}` })).status).toBe('failed');
  });
});
