import { accountOf, expectProblem, ownApi } from '../../support/api.js';

describe('an unexpected error gets 500 internal_error', () => {
  const api = ownApi();
  const account = accountOf(api);
  beforeAll(async () => {
    await api.sql('ALTER TABLE sluice.messages RENAME COLUMN text TO gone');
  });

  it.each([
    ['GET', '/messages'],
    ['GET', '/messages/msg_01h455vb4pex5vsknk084sn02q'],
    ['POST', '/messages/msg_01h455vb4pex5vsknk084sn02q/cancel'],
    ['POST', '/messages'],
  ])('at %s %s, and does not reveal the cause', async (method, path) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await api.ask(account, `${method} ${path}`, '{"message":"x"}', headers);
    const { detail, title } = expectProblem(answer, 500, 'internal_error');

    expect(Object.keys(answer.body)).toHaveLength(6);
    expect(`${detail as string} ${title as string}`).not.toMatch(/sql|select|column|body|gone|\.[jt]s|\/|42703/i);
  });
});
