import { accountForEach, expectProblem, sharedApi } from '../../support/api.js';

const HOLD_KEY = `
  INSERT INTO sluice.idempotency_keys (account_id, key, fingerprint, message_id, created_at)
  VALUES ($1, $2, sha256(''), 'msg_under_way', now())`;

describe('POST /messages and its batch answer 409 idempotency_key_in_use', () => {
  const api = sharedApi();
  const account = accountForEach(api);

  const sendWithKey = (key: string) => api.send(account, { headers: { 'idempotency-key': key } });
  const sendBatchWithKey = (key: string) =>
    api.ask(account, 'POST /messages/batch', '{"messages":[{"message":"one"},{"message":"two"}]}', {
      'content-type': 'application/json',
      'idempotency-key': key,
    });

  it('to those that wait too long for the first request with the key, and to nobody else', async () => {
    const keys = ['held', 'held', 'held', 'a', 'z'];
    const began = performance.now();
    const answers = await api.during(HOLD_KEY, [account.id, 'held'], () =>
      Promise.all([...keys.map(sendWithKey), api.send(account), sendBatchWithKey('held')]),
    );

    expect(performance.now() - began).toBeLessThan(15_000);
    expect(answers.map(({ status }) => status)).toEqual([409, 409, 409, 202, 202, 202, 409]);
    for (const answer of answers.filter(({ status }) => status === 409))
      expectProblem(answer, 409, 'idempotency_key_in_use');
    expect(await api.stored(account)).toEqual({ messages: 3, keys: 2 });

    const again = await sendWithKey('held');
    expect(again.status).toBe(202);
    expect(again.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('to none that can be answered when the first request fails in time', async () => {
    const asked = await api.during(HOLD_KEY, [account.id, 'held'], async () => {
      const answer = sendWithKey('held');
      await api.waiting(1);
      return { answer };
    });

    expect((await asked.answer).status).toBe(202);
    expect(await api.stored(account)).toEqual({ messages: 1, keys: 1 });
  });
});
