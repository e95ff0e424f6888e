import { accountOf, expectProblem, sharedApi, type BatchSending } from '../../support/api.js';

describe('POST /messages/batch responds 400 and stores nothing', () => {
  const api = sharedApi();
  const account = accountOf(api);

  async function expectRefused(code: string, { headers, ...sending }: BatchSending) {
    const response = await api.sendBatch(account, { ...sending, headers: { 'idempotency-key': 'key', ...headers } });
    const problem = expectProblem(response, 400, code);
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
    return problem as { detail: string; errors: { pointer: string; detail: string }[] };
  }

  it.each([
    ['no messages', '{}', 'an array'],
    ['messages that are an object', '{"messages":{"length":1,"0":{"message":"x"}}}', 'an array'],
    ['no message', '{"messages":[]}', 'empty'],
    ['1,001 messages', JSON.stringify({ messages: Array(1_001).fill({ message: 'x' }) }), 'at most 1000'],
  ])('validation_failed to %s, pointing at the list', async (_name, body, why) => {
    const { errors } = await expectRefused('validation_failed', { body });
    expect(errors).toEqual([{ pointer: '/messages', detail: expect.stringContaining(why) as string }]);
  });

  it.each([
    ['a message that is missing', {}, '/message', 'required'],
    ['a message in the prototype', JSON.parse('{"__proto__":{"message":"x"}}'), '/message', 'required'],
    ['a message that is empty', { message: '' }, '/message', 'empty'],
    ['a message with U+0000', { message: 'a\u0000' }, '/message', 'U+0000'],
    ['a message of 262,145 bytes', { message: 'x'.repeat(262_145) }, '/message', '262144 bytes'],
    ['a string in place of an object', 'x', '', 'object'],
    ['null in place of an object', null, '', 'object'],
  ])('validation_failed to %s, naming its place', async (_name, item: unknown, field, why) => {
    const messages: unknown[] = Array(20).fill({ message: 'x' });
    messages[17] = item;
    const { errors } = await expectRefused('validation_failed', { body: JSON.stringify({ messages }) });
    expect(errors).toEqual([{ pointer: `/messages/17${field}`, detail: expect.stringContaining(why) as string }]);
  });

  it('validation_failed to a time of delivery that is none, or too far ahead, naming its place', async () => {
    const times = ['tomorrow', 17, new Date(Date.now() + 31 * 86_400_000).toISOString()];
    const messages = times.map((deliverAt) => ({ message: 'x', deliverAt }));
    const { errors } = await expectRefused('validation_failed', { body: JSON.stringify({ messages }) });
    expect(errors.map(({ pointer }) => pointer)).toEqual(times.map((_, index) => `/messages/${index}/deliverAt`));
  });

  it('validation_failed that names each of several errors, at most a hundred', async () => {
    const messages = [{ message: '' }, { message: 'x' }, 1, { message: 2 }, {}];
    const { errors, detail } = await expectRefused('validation_failed', { body: JSON.stringify({ messages }) });
    expect(errors.map(({ pointer }) => pointer)).toEqual([
      ...['/messages/0/message', '/messages/2', '/messages/3/message', '/messages/4/message'],
    ]);
    expect(detail).toMatch(/More errors: 1\.$/);
    const body = JSON.stringify({ messages: Array(1_000).fill({}) });
    expect((await expectRefused('validation_failed', { body })).errors).toHaveLength(100);
  });

  it.each([
    ['invalid_json', '{"messages":[{"message":"x"}', {}],
    ['invalid_content_type', undefined, { 'content-type': 'text/plain' }],
    ['validation_failed', undefined, { 'idempotency-key': 'a b' }],
    ['validation_failed', '[{"message":"x"}]', {}],
  ])('%s to %s %j', async (code, body, headers) => {
    await expectRefused(code, { ...(body === undefined ? {} : { body }), headers });
  });
});

describe('POST /messages/batch responds 400 batch_exceeds_limit', () => {
  const api = sharedApi();

  it.each([
    [10, 1_000],
    [1_000, 10],
  ])('to more messages than %d a minute and %d a day can ever hold, and counts one', async (perMinute, perDay) => {
    const account = await api.signUp({ perMinute, perDay });
    const send = (count: number) => api.sendBatch(account, { messages: Array<string>(count).fill('x') });
    const response = await send(11);

    expect(expectProblem(response, 400, 'batch_exceeds_limit').detail).toContain(' 10 messages');
    expect(response.headers['x-ratelimit-remaining']).toBe('9');
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
    await api.sql('UPDATE sluice.rate_limits SET minute_ends_ms = 1, day_ends_ms = 1');
    expect((await send(10)).status).toBe(202);
  });
});
