import { accountOf, sharedApi } from '../../support/api.js';

describe('POST /messages/:id/cancel responds 200', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it('with the message, which is cancelled from then on', async () => {
    const sent = await api.sent(account);
    const response = await api.ask(account, `POST /messages/${sent.id}/cancel`);
    const { updatedAt, ...message } = response.body;

    expect(response.status).toBe(200);
    expect(message).toEqual({
      ...sent,
      status: 'cancelled',
      delivery: 'handler',
      attempts: 0,
      failureReason: null,
      nextAttemptAt: null,
    });
    expect(Date.parse(updatedAt as string)).toBeGreaterThanOrEqual(Date.parse(sent.createdAt));
    expect((await api.ask(account, `GET /messages/${sent.id}`)).body).toEqual(response.body);
  });

  it.each([
    ['an empty object', { 'content-type': 'application/json' }, '{}'],
    ['something that is not JSON', { 'content-type': 'text/plain' }, 'please'],
  ])('whatever the body holds: %s', async (_name, headers, body) => {
    const { id } = await api.sent(account);
    const response = await api.ask(account, `POST /messages/${id}/cancel`, body, headers);

    expect(response.body).toMatchObject({ id, status: 'cancelled' });
  });
});
