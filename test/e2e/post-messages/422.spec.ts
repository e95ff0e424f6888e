import { accountForEach, expectProblem, sharedApi } from '../../support/api.js';

describe('POST /messages responds 422 idempotency_key_reused', () => {
  const api = sharedApi();
  const account = accountForEach(api);

  it.each([
    ['a character more', 'f\u00edrst '],
    ['another case', 'F\u00edrst'],
    ['another normal form', 'fi\u0301rst'],
  ])('to a message with %s and the same key, and replays the first message afterwards', async (_name, message) => {
    const send = (text: string) => api.send(account, { message: text, headers: { 'idempotency-key': 'key' } });
    const first = await send('f\u00edrst');

    expectProblem(await send(message), 422, 'idempotency_key_reused');
    expect(await api.stored(account)).toEqual({ messages: 1, keys: 1 });
    const again = await send('f\u00edrst');
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.bytes.equals(first.bytes)).toBe(true);
  });
});
