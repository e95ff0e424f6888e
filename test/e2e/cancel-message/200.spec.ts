import { accountOf, sharedApi } from '../../support/api.js';

describe('POST /messages/:id/cancel responds 200', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it('with the message, which is cancelled from then on', async () => {
    const sent = await api.sent(account);
    const answer = await api.ask(account, `POST /messages/${sent.id}/cancel`);
    const { updatedAt, ...message } = answer.body;

    expect(answer.status).toBe(200);
    expect(message).toEqual({ ...sent, status: 'cancelled', deliverAt: null, attempts: 0, failureReason: null });
    expect(Date.parse(updatedAt as string)).toBeGreaterThanOrEqual(Date.parse(sent.createdAt));
    expect((await api.ask(account, `GET /messages/${sent.id}`)).body).toEqual(answer.body);
  });

  it.each([
    ['an empty object', { 'content-type': 'application/json' }, '{}'],
    ['something that is not JSON', { 'content-type': 'text/plain' }, 'please'],
  ])('whatever the body holds: %s', async (_name, headers, body) => {
    const { id } = await api.sent(account);
    const answer = await api.ask(account, `POST /messages/${id}/cancel`, body, headers);

    expect(answer.body).toMatchObject({ id, status: 'cancelled' });
  });

  it('once, when many ask in parallel', async () => {
    const { id } = await api.sent(account);
    // Held up until several have seen it queued.
    const asked = await api.during('SELECT FROM sluice.messages WHERE id = $1 FOR UPDATE', [id], async () => {
      const answers = Promise.all(Array.from({ length: 10 }, () => api.ask(account, `POST /messages/${id}/cancel`)));
      await api.waiting(2);
      return { answers };
    });
    const answers = await asked.answers;

    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
  });
});
