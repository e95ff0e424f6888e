import { expectProblem, startTestApi, type TestAccount, type TestApi } from '../../support/api.js';
import { jsonOf } from '../../support/http.js';

describe('a fault that nobody foresaw is answered 500 internal_error', () => {
  let api: TestApi;
  let account: TestAccount;

  beforeAll(async () => {
    api = await startTestApi();
    account = await api.signUp();
    await api.sql('ALTER TABLE sluice.messages RENAME COLUMN body TO gone');
  });
  afterAll(() => api.stop());

  it.each([
    ['GET', '/messages'],
    ['GET', '/messages/msg_01h455vb4pex5vsknk084sn02q'],
    ['POST', '/messages/msg_01h455vb4pex5vsknk084sn02q/cancel'],
    ['POST', '/messages'],
  ])('at %s %s, and tells nothing of its cause', async (method, path) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await api.as(account, { method, path, headers, body: '{"message":"x"}' });
    const { detail, title } = expectProblem(answer, 500, 'internal_error');

    expect(Object.keys(jsonOf(answer))).toHaveLength(6);
    expect(`${detail as string} ${title as string}`).not.toMatch(/sql|select|column|body|gone|\.[jt]s|\/|42703/i);
  });
});
