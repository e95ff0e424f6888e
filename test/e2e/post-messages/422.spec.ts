import { accountForEach, expectProblem, sharedApi } from '../../support/api.js';

describe('POST /messages responds 422 idempotency_key_reused', () => {
  const api = sharedApi();
  const account = accountForEach(api);

  const sendWithKey = (message: string) => api.send(account, { message, headers: { 'idempotency-key': 'key' } });

  it('to another message with the same key, and stores nothing', async () => {
    await sendWithKey('first');

    expectProblem(await sendWithKey('second'), 422, 'idempotency_key_reused');
    expect(await api.stored(account)).toEqual({ messages: 1, keys: 1 });
  });

  it.each([
    ['a blank more', 'first '],
    ['another case', 'First'],
    ['another normal form', 'fi\u0301rst'],
  ])('to a message with %s', async (_name, message) => {
    await sendWithKey('first');
    await sendWithKey('f\u00edrst');

    expectProblem(await sendWithKey(message), 422, 'idempotency_key_reused');
  });

  it('and the first answer to the first message all the same', async () => {
    const first = await sendWithKey('first');
    await sendWithKey('second');
    const again = await sendWithKey('first');

    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.bytes.equals(first.bytes)).toBe(true);
  });

  it('to all but those with the message that came first, of parallel requests', async () => {
    const messages = Array.from({ length: 30 }, (_, index) => ['a', 'b', 'c'][index % 3] ?? '');
    const answers = await Promise.all(messages.map(sendWithKey));
    const [stored] = await api.sql<{ text: string }>('SELECT text FROM sluice.messages WHERE account_id = $1', [
      account.id,
    ]);

    expect(answers.map(({ status }) => status)).toEqual(
      messages.map((message) => (message === stored?.text ? 202 : 422)),
    );
    expect(await api.stored(account)).toEqual({ messages: 1, keys: 1 });
  });
});
