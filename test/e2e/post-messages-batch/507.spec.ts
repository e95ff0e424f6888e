import { accountOf, expectProblem, ownApi } from '../../support/api.js';
import { until } from '../../support/processes.js';

const LARGE = 'x'.repeat(262_144);

describe('POST /messages/batch responds 507 storage_full and stores nothing', () => {
  const api = ownApi({ MAX_STORED_MB_PER_ACCOUNT: '1', MAX_BODY_BYTES: '2097152' });
  const account = accountOf(api);

  it('when an earlier batch has filled the account, and counts one request', async () => {
    const taken = await api.sendBatch(account, { messages: [LARGE, LARGE, LARGE, LARGE] });
    expect(taken.status).toBe(202);
    await until(async () => (await api.send(account)).status === 507, 15_000);
    const before = await api.stored(account);
    const refused = [await api.sendBatch(account, { messages: ['a', 'b'] }), await api.sendBatch(account)];

    for (const answer of refused) expectProblem(answer, 507, 'storage_full');
    expect(await api.stored(account)).toEqual(before);
    const [first, second] = refused.map(({ headers }) => Number(headers['x-ratelimit-remaining']));
    expect(second).toBe((first ?? 0) - 1);
  });

  it('but goes on to take retries of what is stored', async () => {
    const body = JSON.stringify({ since: new Date(0).toISOString(), until: new Date().toISOString() });
    const headers = { 'content-type': 'application/json' };
    const answer = await api.ask(account, 'POST /messages/retry', body, headers);
    expect(answer.status).toBe(202);
  });
});
