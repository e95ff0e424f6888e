import { accountForEach, sharedApi, type SentMessage } from '../../support/api.js';
import { type Answer } from '../../support/http.js';
import { TRACEPARENT } from '../../support/messages.js';

const dataOf = (answer: Answer) => answer.body.data as SentMessage[];

describe('POST /messages/batch responds 202', () => {
  const api = sharedApi();
  const account = accountForEach(api);

  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `message ${index}`);

  it('with the four fields of each message, in the order sent, and no place', async () => {
    const answer = await api.sendBatch(account, { messages: [' é 😀 ', 'b', 'b'] });
    const data = dataOf(answer);

    expect(answer.status).toBe(202);
    expect(Object.keys(answer.body)).toEqual(['data']);
    expect(data.map(({ message, status }) => [message, status])).toEqual(
      [' é 😀 ', 'b', 'b'].map((message) => [message, 'queued']),
    );
    for (const message of data) {
      expect(Object.keys(message)).toEqual(['id', 'message', 'status', 'createdAt']);
      expect(message.id).toMatch(/^msg_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
      expect(new Date(message.createdAt).toISOString()).toBe(message.createdAt);
    }
    expect(new Set(data.map(({ id }) => id)).size).toBe(3);
    expect(answer.headers).not.toHaveProperty('location');
    expect(answer.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('to a batch of one', async () => {
    expect(dataOf(await api.sendBatch(account))).toMatchObject([{ message: 'hello' }]);
  });

  it('when all are stored in one commit with one outbox entry', async () => {
    const data = await api.during('LOCK TABLE bullmq.job', [], async () => {
      const sent = dataOf(await api.sendBatch(account, { messages: numbered(1_000) }));
      const rows = await api.sql<{ xmin: string }>(
        'SELECT DISTINCT xmin::text FROM sluice.messages WHERE account_id = $1',
        [account.id],
      );
      expect(rows).toHaveLength(1);
      const entries = await api.sql<{ count: number }>(
        'SELECT cardinality(message_ids) AS count FROM sluice.outbox WHERE message_ids && $1',
        [sent.map(({ id }) => id)],
      );
      expect(entries).toEqual([{ count: 1_000 }]);
      return sent;
    });
    expect(data.map(({ message }) => message)).toEqual(numbered(1_000));
    for (const { id } of [data[0], data[999]].filter((message) => message !== undefined)) await api.relayed(id);
    const [jobs] = await api.sql('SELECT count(*)::int AS count FROM bullmq.job WHERE id = ANY ($1)', [
      data.map(({ id }) => id),
    ]);
    expect(jobs).toEqual({ count: 1_000 });
  });

  it('and lists the messages in the order sent, newest first', async () => {
    const ids = dataOf(await api.sendBatch(account, { messages: numbered(50) })).map(({ id }) => id);
    const listed = dataOf(await api.ask(account, 'GET /messages?limit=50')).map(({ id }) => id);
    expect(listed).toEqual(ids.toReversed());
  });

  it('to a body with unknown fields, names of Object.prototype and deep nesting', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const item = `{"id":"mine","__proto__":{"a":1},"constructor":1,"more":${deep},"message":"x"}`;
    const answer = await api.sendBatch(account, { body: `{"messages":[${item},{"message":"y"}],"more":1}` });
    expect(dataOf(answer).map(({ message }) => message)).toEqual(['x', 'y']);
  });

  it('to parallel batches, each with messages of its own', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api.sendBatch(account, { messages: numbered(100) })),
    );
    expect(new Set(answers.flatMap(dataOf).map(({ id }) => id)).size).toBe(2_000);
    expect(await api.stored(account)).toEqual({ messages: 2_000, keys: 0 });
  });

  it('and keeps the trace with each message', async () => {
    await api.sendBatch(account, { messages: ['a', 'b'], headers: { traceparent: TRACEPARENT } });
    const rows = await api.sql('SELECT traceparent FROM sluice.messages WHERE account_id = $1', [account.id]);
    expect(rows).toEqual([{ traceparent: TRACEPARENT }, { traceparent: TRACEPARENT }]);
  });
});
