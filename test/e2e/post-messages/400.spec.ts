import { accountOf, expectProblem, sharedApi, type Sending } from '../../support/api.js';
import { exchange, lines } from '../../support/http.js';

describe('POST /messages responds 400 and stores nothing', () => {
  const api = sharedApi();
  const account = accountOf(api);

  async function expectRefused(code: string, { headers, ...sending }: Sending): Promise<Record<string, unknown>> {
    const answer = await api.send(account, { ...sending, headers: { 'idempotency-key': 'key', ...headers } });
    const problem = expectProblem(answer, 400, code);
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
    ['200,000 unclosed brackets', '['.repeat(200_000)],
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
    ['under another case', '{"Message":"x"}', 'required'],
    ['in the prototype', '{"__proto__":{"message":"x"}}', 'required'],
    ['that is null', '{"message":null}', 'string'],
    ['that is a number', '{"message":1}', 'string'],
    ['that is true', '{"message":true}', 'string'],
    ['that is an array', '{"message":["x"]}', 'string'],
    ['that is an object', '{"message":{"toString":"x","length":1}}', 'string'],
    ['that is nested 200,000 deep', `{"message":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, 'string'],
    ['that is empty', '{"message":""}', 'empty'],
    ['with U+0000', '{"message":"a\\u0000b"}', 'U+0000'],
    ['with a lone high surrogate', '{"message":"a\\ud800b"}', 'surrogate'],
    ['with a lone low surrogate', '{"message":"\\udc00"}', 'surrogate'],
    ['with surrogates in the wrong order', '{"message":"\\ude00\\ud83d"}', 'surrogate'],
    ['of 262,145 bytes, one each', JSON.stringify({ message: 'a'.repeat(262_145) }), '262144 bytes'],
    ['of 262,145 bytes, two each', JSON.stringify({ message: 'é'.repeat(131_072) + 'a' }), '262144 bytes'],
    ['of 262,145 bytes, four each', JSON.stringify({ message: 'a' + '😀'.repeat(65_536) }), '262144 bytes'],
  ])('validation_failed to a message %s, pointing at it', async (_name, body, why) => {
    const { errors } = await expectRefused('validation_failed', { body });
    expect(errors).toEqual([{ pointer: '/message', detail: expect.stringContaining(why) as string }]);
  });

  it.each([
    ['a number', 1_795_266_461],
    ['words', 'tomorrow'],
    ['empty', ''],
    ['a date only', '2026-11-21'],
    ['without an offset', '2026-11-21T09:30:00'],
    ['on a day that the month has not', '2026-02-30T09:30:00Z'],
    ['at an hour that the day has not', '2026-11-21T25:00:00Z'],
    ['more than 30 days ahead', new Date(Date.now() + 30 * 86_400_000 + 5_000).toISOString()],
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
  ])('invalid_content_type to the Content-Type %s', async (type) => {
    await expectRefused('invalid_content_type', { headers: { 'content-type': type } });
  });

  it('invalid_content_type to two Content-Type headers', async () => {
    await expectRefused('invalid_content_type', { headers: { 'content-type': ['application/json', 'text/plain'] } });
  });

  it('invalid_content_type to a wrong type before it reads the body', async () => {
    await expectRefused('invalid_content_type', { headers: { 'content-type': 'text/plain' }, body: '{' });
  });

  it.each([
    ['no characters', ''],
    ['256 characters', 'k'.repeat(256)],
    ['a blank', 'a b'],
    ['a tab', 'a\tb'],
    ['a character beyond ASCII', 'é'],
  ])('validation_failed to an Idempotency-Key with %s', async (_name, key) => {
    const { detail } = await expectRefused('validation_failed', { headers: { 'idempotency-key': key } });
    expect(detail).toMatch(/^Idempotency-Key must /);
  });

  it('validation_failed to two Idempotency-Key headers', async () => {
    await expectRefused('validation_failed', { headers: { 'idempotency-key': ['a', 'a'] } });
  });

  it('malformed_request to a chunk without a length, under the request id of the caller', async () => {
    const answer = await exchange(
      api.url,
      lines(
        'POST /messages HTTP/1.1',
        'Host: sluice',
        `Authorization: Bearer ${account.key}`,
        'Content-Type: application/json',
        'X-Request-Id: mine',
        'Transfer-Encoding: chunked',
      ) + 'f\r\n{"message":"x"}\r\nzz\r\n',
    );

    expect(expectProblem(answer, 400, 'malformed_request').requestId).toBe('mine');
    expect(await api.stored(account)).toEqual({ messages: 0, keys: 0 });
  });
});
