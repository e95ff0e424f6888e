import { accountForEach, sharedApi, type SentMessage } from '../../support/api.js';
import { type HttpResponse } from '../../support/http.js';
import { TRACEPARENT } from '../../support/messages.js';

const dataOf = (response: HttpResponse) => response.body.data as SentMessage[];

describe('POST /messages/batch responds 202', () => {
  const api = sharedApi();
  const account = accountForEach(api);

  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `message ${index}`);

  it('with the four fields of each message, in the order sent, and no Location', async () => {
    const response = await api.sendBatch(account, { messages: [' é 😀 ', 'b', 'b'] });
    const data = dataOf(response);

    expect(response.status).toBe(202);
    expect(Object.keys(response.body)).toEqual(['data']);
    expect(data.map(({ message, status }) => [message, status])).toEqual(
      [' é 😀 ', 'b', 'b'].map((message) => [message, 'queued']),
    );
    for (const message of data) {
      expect(Object.keys(message)).toEqual(['id', 'message', 'status', 'createdAt']);
      expect(message.id).toMatch(/^msg_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
      expect(new Date(message.createdAt).toISOString()).toBe(message.createdAt);
    }
    expect(new Set(data.map(({ id }) => id)).size).toBe(3);
    expect(response.headers).not.toHaveProperty('location');
    expect(response.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('and lists the messages in the order sent, newest first', async () => {
    const ids = dataOf(await api.sendBatch(account, { messages: numbered(50) })).map(({ id }) => id);
    const listed = dataOf(await api.ask(account, 'GET /messages?limit=50')).map(({ id }) => id);
    expect(listed).toEqual(ids.toReversed());
  });

  it('to a body with unknown fields, names of Object.prototype and deep nesting', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const item = `{"id":"mine","__proto__":{"a":1},"constructor":1,"more":${deep},"message":"x"}`;
    const response = await api.sendBatch(account, { body: `{"messages":[${item},{"message":"y"}],"more":1}` });
    expect(dataOf(response).map(({ message }) => message)).toEqual(['x', 'y']);
  });

  it('and keeps the trace with each message', async () => {
    await api.sendBatch(account, { messages: ['a', 'b'], headers: { traceparent: TRACEPARENT } });
    const rows = await api.sql('SELECT traceparent FROM sluice.messages WHERE account_id = $1', [account.id]);
    expect(rows).toEqual([{ traceparent: TRACEPARENT }, { traceparent: TRACEPARENT }]);
  });

  it.each([1, 1_000])('to a repeated batch of %i with the bytes of the first response', async (count) => {
    const request = { messages: numbered(count), headers: { 'idempotency-key': 'key' } };
    const first = await api.sendBatch(account, request);
    await api.sql(`UPDATE sluice.messages SET status = 'delivered', attempts = 1 WHERE account_id = $1`, [account.id]);
    const again = await api.sendBatch(account, request);

    expect(again.status).toBe(202);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.bytes.equals(first.bytes)).toBe(true);
    expect(await api.stored(account)).toEqual({ messages: count, keys: 1 });
  });

  it('with new messages when the response to the first request with the key was 400', async () => {
    const headers = { 'idempotency-key': 'key' };
    expect((await api.sendBatch(account, { messages: ['a', ''], headers })).status).toBe(400);
    const response = await api.sendBatch(account, { messages: ['a', 'b'], headers });
    expect(response.status).toBe(202);
    expect(response.headers).not.toHaveProperty('idempotent-replayed');
  });
});
