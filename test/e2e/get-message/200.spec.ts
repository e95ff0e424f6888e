import { accountOf, sharedApi } from '../../support/api.js';

describe('GET /messages/:id responds 200', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it('with the message at the Location of its acceptance', async () => {
    const accepted = await api.send(account, { message: ' é 😀 ' });
    const response = await api.ask(account, `GET ${accepted.headers.location ?? ''}`);

    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.body).toEqual({
      ...accepted.body,
      delivery: 'handler',
      updatedAt: accepted.body.createdAt,
      attempts: 0,
      failureReason: null,
      nextAttemptAt: null,
    });
  });

  it.each([
    ['processing', null],
    ['delivered', null],
    ['failed', 'the handler said no'],
  ])('with a message that is %s', async (status, failureReason) => {
    const sent = await api.sent(account);
    await api.become(sent.id, status);
    const { updatedAt, ...message } = (await api.ask(account, `GET /messages/${sent.id}`)).body;

    const fixed = { delivery: 'handler', nextAttemptAt: null };
    expect(message).toEqual({ ...sent, ...fixed, status, attempts: 1, failureReason });
    expect(Date.parse(updatedAt as string)).toBeGreaterThanOrEqual(Date.parse(sent.createdAt));
  });

  it('to a percent-encoded id, and with any query', async () => {
    const { id } = await api.sent(account);
    const response = await api.ask(account, `GET /messages/${id.replace('m', '%6D').replace('_', '%5f')}?id=other`);

    expect(response.body.id).toBe(id);
  });
});
