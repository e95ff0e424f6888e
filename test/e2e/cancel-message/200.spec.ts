import { accountOf, sharedApi, statusesOf } from '../../support/api.js';

describe('POST /messages/:id/cancel responds 200', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it('with the message, which is cancelled from then on', async () => {
    const sent = await api.sent(account);
    const response = await api.ask(account, `POST /messages/${sent.id}/cancel`);
    const { updatedAt, ...message } = response.body;

    expect(response.status).toBe(200);
    expect(message).toEqual({ ...sent, status: 'cancelled', deliverAt: null, attempts: 0, failureReason: null });
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

  it('to one of several parallel requests, and 409 to the others', async () => {
    const { id } = await api.sent(account);
    const cancel = () => api.ask(account, `POST /messages/${id}/cancel`);
    // Held up until several have seen it queued.
    const { responding } = await api.during('SELECT FROM sluice.messages WHERE id = $1 FOR UPDATE', [id], async () => {
      const responding = Promise.all(Array.from({ length: 10 }, cancel));
      await api.waiting(2);
      return { responding };
    });

    expect(statusesOf(await responding)).toEqual([200, ...Array<number>(9).fill(409)]);
  });
});
