import { expectProblem, startTestApi, type TestAccount, type TestApi } from '../../support/api.js';

const HOLD_KEY = `
  INSERT INTO sluice.idempotency_keys (account_id, key, fingerprint, message_id, created_at)
  VALUES ($1, $2, sha256(''), 'msg_under_way', now())`;

describe('POST /messages answers 409 idempotency_key_in_use', () => {
  let api: TestApi;
  let account: TestAccount;

  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.stop());
  beforeEach(async () => {
    account = await api.signUp();
  });

  const sendWithKey = (key: string) => api.send(account, { headers: { 'idempotency-key': key } });

  it('within some seconds while the first request with the key does not end, and 202 once that has failed', async () => {
    const began = performance.now();
    const answer = await api.during(HOLD_KEY, [account.id, 'held'], () => sendWithKey('held'));

    expectProblem(answer, 409, 'idempotency_key_in_use');
    expect(performance.now() - began).toBeLessThan(8_000);
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });

    const again = await sendWithKey('held');
    expect(again.status).toBe(202);
    expect(again.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('to each of many that wait for the key, while those with other keys or none are answered 202', async () => {
    const keys = ['held', 'held', 'held', 'a', 'z'];
    const answers = await api.during(HOLD_KEY, [account.id, 'held'], () =>
      Promise.all([...keys.map(sendWithKey), api.send(account)]),
    );

    expect(answers.map(({ status }) => status)).toEqual([409, 409, 409, 202, 202, 202]);
    expect(await api.stored(account)).toEqual({ messages: 3, keys: 2 });
  });
});
