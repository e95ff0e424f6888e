import { accountOf, expectProblem, sharedApi } from '../../support/api.js';
import { isLate } from '../../support/http.js';

const HOLD_KEY = `
  INSERT INTO sluice.idempotency_keys (account_id, key, fingerprint, message_id, created_at)
  VALUES ($1, 'held', sha256(''), 'msg_under_way', now())`;

describe('POST /messages and POST /messages/batch respond 409 idempotency_key_in_use', () => {
  const api = sharedApi();
  const account = accountOf(api);

  const send = (key: string) => api.send(account, { headers: { 'idempotency-key': key } });

  it('only to requests that wait too long for the first request with the key', async () => {
    const batch = { messages: ['one', 'two'], headers: { 'idempotency-key': 'held' } };
    const began = performance.now();
    const responses = await api.during(HOLD_KEY, [account.id], () =>
      Promise.all([...['held', 'held', 'a', 'z'].map(send), api.send(account), api.sendBatch(account, batch)]),
    );

    expect(performance.now() - began).toBeLessThan(15_000);
    // A busy machine may verify a key too late for what it has accepted.
    const statuses = responses.map((response) => (isLate(response) ? 202 : response.status));
    expect(statuses).toEqual([409, 409, 202, 202, 202, 409]);
    for (const response of responses.filter(({ status }) => status === 409))
      expectProblem(response, 409, 'idempotency_key_in_use');
    expect(await api.stored(account)).toEqual({ messages: 3, keys: 2 });

    const again = await send('held');
    expect(again.status).toBe(202);
    expect(again.headers).not.toHaveProperty('idempotent-replayed');
  });
});
