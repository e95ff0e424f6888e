import { accountOf, sharedApi } from '../../support/api.js';

describe('POST /messages/:id/retry responds 202', () => {
  const api = sharedApi();
  const account = accountOf(api);

  const retry = (id: string) => api.ask(account, `POST /messages/${id}/retry`);

  it('with the message, which is queued again and keeps its count of attempts', async () => {
    const sent = await api.sent(account);
    await api.become(sent.id, 'failed');
    const response = await retry(sent.id);
    const { updatedAt, ...message } = response.body;

    expect(response.status).toBe(202);
    expect(message).toEqual({
      ...sent,
      status: 'queued',
      delivery: 'handler',
      attempts: 1,
      failureReason: null,
      nextAttemptAt: null,
    });
    expect(Date.parse(updatedAt as string)).toBeGreaterThanOrEqual(Date.parse(sent.createdAt));
    expect((await api.ask(account, `GET /messages/${sent.id}`)).body).toEqual(response.body);
  });

  it('when a job of its own for this retry is queued or on its way', async () => {
    const { id } = await api.sent(account);
    await api.relayed(id);
    for (const jobId of [`${id}.1`, `${id}.2`]) {
      await api.become(id, 'failed');
      await retry(id);
      expect(await api.isQueued(id, jobId)).toBe(true);
      await api.relayed(id, jobId);
    }
  });
});
