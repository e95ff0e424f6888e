import { accountOf, sharedApi } from '../../support/api.js';

describe('GET /messages/:id/attempts responds 200', () => {
  const api = sharedApi();
  const account = accountOf(api);

  const attempts = async (id: string) => {
    const response = await api.ask(account, `GET /messages/${id}/attempts`);
    expect(response.status).toBe(200);
    return response.body;
  };

  it('with none of a message that no worker has begun', async () => {
    expect(await attempts((await api.sent(account)).id)).toEqual({ data: [] });
  });

  it('with each attempt, the newest last', async () => {
    const { id } = await api.sent(account);
    await api.sql(
      `INSERT INTO sluice.attempts (message_id, account_id, number, started_at, ended_at, outcome, error, target,
         response_status, response_body)
       VALUES ($1, $2, 2, '2026-11-21T09:31:00Z', NULL, 'lost', NULL, 'worker', NULL, NULL),
              ($1, $2, 1, '2026-11-21T09:30:00Z', '2026-11-21T09:30:01.5Z', 'retried', 'no luck', 'ep_1', 500, 'oops')`,
      [id, account.id],
    );
    await api.become(id, 'processing');
    await api.sql(`UPDATE sluice.messages SET attempts = 3 WHERE id = $1`, [id]);
    const { updatedAt } = (await api.ask(account, `GET /messages/${id}`)).body;
    const first = { number: 1, startedAt: '2026-11-21T09:30:00.000Z', durationMs: 1_500 };
    const second = { number: 2, startedAt: '2026-11-21T09:31:00.000Z', durationMs: null };
    const third = { number: 3, startedAt: updatedAt, durationMs: null };
    const noResponse = { responseStatus: null, responseBody: null };
    expect(await attempts(id)).toEqual({
      data: [
        { ...first, outcome: 'retried', error: 'no luck', target: 'ep_1', responseStatus: 500, responseBody: 'oops' },
        { ...second, outcome: 'lost', error: null, target: 'worker', ...noResponse },
        { ...third, outcome: 'running', error: null, target: 'handler', ...noResponse },
      ],
    });
  });
});
