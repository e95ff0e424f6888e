import { accountForEach, sharedApi } from '../../support/api.js';
import type { HttpResponse } from '../../support/http.js';

describe('POST /messages with an Idempotency-Key responds 202', () => {
  const api = sharedApi();
  const account = accountForEach(api);

  const sendWithKey = (key: string, sending = {}) =>
    api.send(account, { headers: { 'idempotency-key': key }, ...sending });

  function expectReplay(response: HttpResponse, first: HttpResponse): void {
    expect(response.status).toBe(202);
    expect(response.headers['idempotent-replayed']).toBe('true');
    expect(response.headers.location).toBe(first.headers.location);
    expect(response.bytes.equals(first.bytes)).toBe(true);
  }

  function expectFirst(response: HttpResponse): void {
    expect(response.status).toBe(202);
    expect(response.headers).not.toHaveProperty('idempotent-replayed');
  }

  it.each(['queued', 'processing', 'delivered', 'failed', 'cancelled'])(
    'to the same request again with the bytes of the first response, even if the message is %s now',
    async (status) => {
      const first = await sendWithKey('key', { message: ' é 😀 ' });
      await api.become(String(first.body.id), status);

      expectFirst(first);
      expectReplay(await sendWithKey('key', { message: ' é 😀 ' }), first);
      expect(await api.stored(account)).toEqual({ messages: 1, keys: 1 });
    },
  );

  it('to the same message in another layout of JSON', async () => {
    const first = await sendWithKey('key', { body: '{"message":"A"}' });
    expectReplay(await sendWithKey('key', { body: '{ "message": "\\u0041", "more": 1 }' }), first);
  });

  it('with messages of their own to keys that differ in case only, and to another account', async () => {
    for (const key of ['key', 'KEY']) expectFirst(await sendWithKey(key));
    expect(await api.stored(account)).toEqual({ messages: 2, keys: 2 });
    expectFirst(await api.send(await api.signUp(), { headers: { 'idempotency-key': 'key' } }));
  });

  it.each(['k', '~'.repeat(255), `!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`])('to the key %s', async (key) => {
    const first = await sendWithKey(key);
    expectReplay(await sendWithKey(key), first);
  });

  it.each([
    ['400', { body: '{"message":""}' }],
    ['413', { body: '{"message":"x"}'.padEnd(1_048_577) }],
    ['415', { headers: { 'idempotency-key': 'key', 'content-encoding': 'gzip' } }],
  ])('with a new message when the response to the first request with the key was %s', async (status, sending) => {
    expect((await sendWithKey('key', sending)).status).toBe(Number(status));
    expectFirst(await sendWithKey('key'));
  });
});
