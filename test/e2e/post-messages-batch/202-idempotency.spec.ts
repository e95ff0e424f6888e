import { accountForEach, sharedApi } from '../../support/api.js';
import type { Answer } from '../../support/http.js';

describe('POST /messages/batch with an Idempotency-Key responds 202', () => {
  const api = sharedApi();
  const account = accountForEach(api);

  const sendWithKey = (messages = ['a', 'b', 'c'], key = 'key') =>
    api.sendBatch(account, { messages, headers: { 'idempotency-key': key } });

  function expectReplay(answer: Answer, first: Answer): void {
    expect(answer.status).toBe(202);
    expect(answer.headers['idempotent-replayed']).toBe('true');
    expect(answer.bytes.equals(first.bytes)).toBe(true);
  }

  it.each([[['a']], [['a', 'b', 'a', ' é 😀 ']], [Array.from({ length: 1_000 }, (_, index) => String(index))]])(
    'to the same batch again with the bytes of the first answer, and creates nothing',
    async (messages) => {
      const first = await sendWithKey(messages);
      expect(first.headers).not.toHaveProperty('idempotent-replayed');
      expectReplay(await sendWithKey(messages), first);
      expect(await api.stored(account)).toEqual({ messages: messages.length, keys: 1 });
    },
  );

  it('with the first answer whatever has become of the messages', async () => {
    const first = await sendWithKey();
    await api.sql(`UPDATE sluice.messages SET status = 'delivered', attempts = 1 WHERE account_id = $1`, [account.id]);
    expectReplay(await sendWithKey(), first);
  });

  it('to 30 parallel batches with one key, which create one', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => sendWithKey()));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
    expect(new Set(answers.map(({ bytes }) => bytes.toString())).size).toBe(1);
    expect(await api.stored(account)).toEqual({ messages: 3, keys: 1 });
  });

  it('with new messages when the first request with the key was refused', async () => {
    expect((await sendWithKey(['a', ''])).status).toBe(400);
    const answer = await sendWithKey();
    expect(answer.status).toBe(202);
    expect(answer.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('with new messages when the key was first used more than 24 hours ago', async () => {
    await sendWithKey();
    await api.sql(`UPDATE sluice.idempotency_keys SET created_at = created_at - interval '25 hours'`);
    const answer = await sendWithKey(['d', 'e']);
    expect(answer.headers).not.toHaveProperty('idempotent-replayed');
    expectReplay(await sendWithKey(['d', 'e']), answer);
    expect(await api.stored(account)).toEqual({ messages: 5, keys: 1 });
  });
});
