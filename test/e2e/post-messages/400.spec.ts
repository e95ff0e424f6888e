import { accountOf, expectProblem, sharedApi, type Sending } from '../../support/api.js';
import { exchange, lines } from '../../support/http.js';

describe('POST /messages responds 400 and stores nothing', () => {
  const api = sharedApi();
  const account = accountOf(api);

  async function expectRefused(code: string, { headers, ...sending }: Sending): Promise<Record<string, unknown>> {
    const response = await api.send(account, { ...sending, headers: { 'idempotency-key': 'key', ...headers } });
    const problem = expectProblem(response, 400, code);
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
    return problem;
  }

  it.each([
    ['no body', ''],
    ['blanks', '  '],
    ['a broken object', '{"message":"x"'],
    ['text after the object', '{"message":"x"} {}'],
    ['a comment', '{"message":"x"/**/}'],
    ['single quotes', "{'message':'x'}"],
    ['a raw line break in the string', '{"message":"a\nb"}'],
    ['a form', 'message=x'],
    ['a byte order mark', Buffer.from('\ufeff{"message":"x"}')],
    ['UTF-16', Buffer.from('{"message":"x"}', 'utf16le')],
    ['Latin-1', Buffer.from('{"message":"é"}', 'latin1')],
    ['a surrogate in UTF-8', Buffer.from('{"message":"\xed\xa0\x80"}', 'latin1')],
    ['an overlong encoding', Buffer.from('{"message":"\xc0\xaf"}', 'latin1')],
    ['a character cut short', Buffer.from('{"message":"\xf0\x9f\x98"}', 'latin1')],
  ])('invalid_json to %s', async (_name, body) => {
    await expectRefused('invalid_json', { body });
  });

  it.each([
    ['null', 'null'],
    ['a string', '"message"'],
    ['a number', '1'],
    ['an array', '[{"message":"x"}]'],
    ['an array nested 200,000 deep', '['.repeat(200_000) + ']'.repeat(200_000)],
  ])('validation_failed to %s instead of an object, pointing at the whole body', async (_name, body) => {
    const { errors } = await expectRefused('validation_failed', { body });
    expect(errors).toEqual([{ pointer: '', detail: 'The body must be a JSON object.' }]);
  });

  it.each([
    ['that is missing', '{}', 'required'],
    ['that is null', '{"message":null}', 'string'],
    ['that is a number', '{"message":1}', 'string'],
    ['that is an object', '{"message":{"toString":"x","length":1}}', 'string'],
    ['that is empty', '{"message":""}', 'empty'],
    ['with U+0000', '{"message":"a\\u0000b"}', 'U+0000'],
    ['with a lone high surrogate', '{"message":"a\\ud800b"}', 'surrogate'],
    ['of 262,145 bytes, four each', JSON.stringify({ message: 'a' + '😀'.repeat(65_536) }), '262144 bytes'],
  ])('validation_failed to a message %s, pointing at it', async (_name, body, why) => {
    const { errors } = await expectRefused('validation_failed', { body });
    expect(errors).toEqual([{ pointer: '/message', detail: expect.stringContaining(why) as string }]);
  });

  it.each([
    ['words', 'tomorrow'],
    ['without an offset', '2026-11-21T09:30:00'],
    ['on a day that the month has not', '2026-02-30T09:30:00Z'],
    ['more than 30 days ahead', new Date(Date.now() + 30 * 86_400_000 + 60_000).toISOString()],
  ])('validation_failed to a deliverAt that is %s, pointing at it', async (_name, deliverAt) => {
    const { errors } = await expectRefused('validation_failed', { body: JSON.stringify({ message: 'x', deliverAt }) });
    expect(errors).toEqual([{ pointer: '/deliverAt', detail: expect.stringMatching(/^deliverAt must be /) as string }]);
  });

  it.each([
    undefined,
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/problem+json',
    'application/json, application/json',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/json; charset=utf-8; charset=latin1',
    ['application/json', 'text/plain'],
  ])('invalid_content_type to the Content-Type %j, before it reads the body', async (type) => {
    await expectRefused('invalid_content_type', { headers: { 'content-type': type }, body: '{' });
  });

  it.each(['', 'k'.repeat(256), 'a b', 'a\tb', 'é'])('validation_failed to the Idempotency-Key %j', async (key) => {
    const { detail } = await expectRefused('validation_failed', { headers: { 'idempotency-key': key } });
    expect(detail).toMatch(/^Idempotency-Key must /);
  });

  it('validation_failed to two Idempotency-Key headers', async () => {
    await expectRefused('validation_failed', { headers: { 'idempotency-key': ['a', 'a'] } });
  });

  it('malformed_request to a chunk without a length, under the request id of the caller', async () => {
    const head = [
      'POST /messages HTTP/1.1',
      'Host: sluice',
      `Authorization: Bearer ${account.key}`,
      'X-Request-Id: mine',
    ];
    const framing = lines(...head, 'Content-Type: application/json', 'Transfer-Encoding: chunked');
    const response = await exchange(api.url, `${framing}f\r\n{"message":"x"}\r\nzz\r\n`);

    expect(expectProblem(response, 400, 'malformed_request').requestId).toBe('mine');
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });
});
