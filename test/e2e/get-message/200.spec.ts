import { startTestApi, type TestAccount, type TestApi } from '../../support/api.js';
import { jsonOf } from '../../support/http.js';

describe('GET /messages/:id answers 200', () => {
  let api: TestApi;
  let account: TestAccount;

  beforeAll(async () => {
    api = await startTestApi();
    account = await api.signUp();
  });
  afterAll(() => api.stop());

  it('with the message at the place that its acceptance named', async () => {
    const accepted = await api.send(account, { message: ' é 😀 ' });
    const answer = await api.as(account, { path: accepted.headers.location ?? '' });

    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(jsonOf(answer)).toEqual({
      ...jsonOf(accepted),
      deliverAt: null,
      updatedAt: jsonOf(accepted).createdAt,
      attempts: 0,
      failureReason: null,
    });
  });

  it.each([
    ['processing', null],
    ['delivered', null],
    ['failed', 'the handler said no'],
  ])('with a message that is %s', async (status, failureReason) => {
    const sent = await api.sent(account);
    await api.become(sent.id, status);
    const { updatedAt, ...message } = jsonOf(await api.as(account, { path: `/messages/${sent.id}` }));

    expect(message).toEqual({ ...sent, status, deliverAt: null, attempts: 1, failureReason });
    expect(Date.parse(updatedAt as string)).toBeGreaterThanOrEqual(Date.parse(sent.createdAt));
  });

  it('to a percent-encoded id, and whatever the query says', async () => {
    const { id } = await api.sent(account);
    const answer = await api.as(account, { path: `/messages/${id.replace('m', '%6D').replace('_', '%5f')}?id=other` });

    expect(jsonOf(answer).id).toBe(id);
  });
});
