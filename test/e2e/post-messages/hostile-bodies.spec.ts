import { accountOf, sharedApi } from '../../support/api.js';
import { isLate } from '../../support/http.js';
import { eventLoopLagMs } from '../../support/metrics.js';
import { until } from '../../support/processes.js';

const LOOSE_CEILING_MS = 10_000;
const MIB = 1_048_576;

const nested = (open: string, close: string, depth = 200_000) => open.repeat(depth) + close.repeat(depth);
const filled = (piece: string, last = '') => piece.repeat(Math.floor((MIB - 100) / piece.length)) + last;
const manyFields = (count: number) => Array.from({ length: count }, (_, index) => `"f${index}":0`).join();
const sameHash = () => Array.from({ length: 60_000 }, (_, index) => `"${2 ** 32 + index * 4_096}":0`).join();

describe('a hostile body of POST /messages', () => {
  const api = sharedApi();
  const account = accountOf(api);
  let accepted = 0;
  const worst = { ms: 0, body: '' };

  afterAll(() => {
    process.stdout.write(`the longest that a hostile body held the event loop: ${worst.ms} ms, ${worst.body}\n`);
  });

  it.each<[string, number, string]>([
    ['with 60,000 unknown fields', 202, `{${manyFields(60_000)},"message":"x"}`],
    ['with 60,000 unknown fields alone', 400, `{${manyFields(60_000)}}`],
    ['with 60,000 fields that are numbers', 202, `{${sameHash()},"message":"x"}`],
    ['with its field 60,000 times', 202, `{${'"message":"y",'.repeat(60_000)}"message":"x"}`],
    ['with __proto__', 202, '{"__proto__":{"message":"y","toString":1},"message":"x"}'],
    ['with __proto__ and nothing else', 400, '{"__proto__":{"message":"x"}}'],
    ['with the names of methods', 202, '{"constructor":1,"hasOwnProperty":1,"toString":1,"then":1,"message":"x"}'],
    ['with a number that is infinite', 202, '{"a":1e999,"b":-1e999,"c":1e-999,"message":"x"}'],
    ['whose message is a number that is infinite', 400, '{"message":1e999}'],
    ['with a number of 1 MB', 202, `{"a":${filled('9')},"message":"x"}`],
    ['with a fraction of 1 MB', 202, `{"a":0.${filled('1')},"message":"x"}`],
    [
      'with objects nested 100,000 deep',
      202,
      `{"a":${nested('{"":', '}', 100_000).replace(':}', ':0}')},"message":"x"}`,
    ],
    ['with arrays nested 200,000 deep', 202, `{"a":${nested('[', ']')},"message":"x"}`],
    ['that is nested 200,000 deep', 400, nested('[', ']')],
    ['with arrays nested 500,000 deep', 202, `{"a":${nested('[', ']', 500_000)},"message":"x"}`],
    ['with 250,000 strings', 202, `{"a":[${'"a",'.repeat(250_000)}0],"message":"x"}`],
    ['with 60,000 values of metadata', 400, `{"message":"x","metadata":{${manyFields(60_000)}}}`],
    ['with fields behind 60,000 others', 202, `{${manyFields(60_000)},"metadata":{"a":"b"},"message":"x"}`],
    ['with 250,001 brackets that are text', 202, `{"a":"\\"${'['.repeat(250_001)}","message":"x"}`],
    ['with 250,001 arrays beside each other', 202, `{"a":[${'[],'.repeat(250_001)}0],"message":"x"}`],
    ['of unclosed brackets', 400, filled('[')],
    ['of unclosed braces', 400, filled('{"":')],
    ['of quotes', 400, filled('"')],
    ['of escapes', 400, `{"message":"${filled('\\u0000')}"}`],
    ['of unfinished escapes', 400, `{"message":"${filled('\\')}`],
    ['of blanks', 400, filled(' ')],
    ['of blanks around an object', 202, `${filled(' ')}{"message":"x"}`],
    ['of characters of four bytes', 400, `{"message":"${filled('😀').slice(0, MIB / 2 - 100)}"}`],
    ['of surrogates in the wrong order', 400, `{"message":"${filled('\\udc00\\ud800')}"}`],
  ])('%s is %i, and does not block the event loop for long', async (name, status, body) => {
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MIB);
    await eventLoopLagMs(api.managementUrl);
    const response = await api.send(account, { body });
    const ms = await eventLoopLagMs(api.managementUrl);
    if (ms > worst.ms) Object.assign(worst, { ms, body: name });

    // A busy machine may verify a key too late for what it has accepted.
    expect(isLate(response) ? 202 : response.status).toBe(status);
    if (status === 202) accepted++;
    if (response.status === 202) expect(response.body.message).toBe('x');
    expect(await api.stored(account)).toEqual({ messages: accepted, keys: 0 });
    expect(ms).toBeLessThan(LOOSE_CEILING_MS);
  });

  it.each([
    ['as few as a message can have', 0],
    ['40,000 unknown ones', 40_000],
  ])('reads the fields of a batch behind %s', async (_many, count) => {
    const unknown = count === 0 ? '' : `${manyFields(count)},`;
    const body = `{${unknown}"messages":[{${unknown}"message":"x","metadata":{"a":"b"}}]}`;
    const response = await api.sendBatch(account, { body });
    expect([response.status, response.body.data]).toMatchObject([202, [{ message: 'x', metadata: { a: 'b' } }]]);
    accepted++;
  });

  it('delays other bodies of its account, but not those of others', async () => {
    const other = await api.signUp();
    let slow = 0;
    const hostile = Array.from({ length: 20 }, () =>
      api.send(account, { body: `{${manyFields(60_000)}}` }).then(() => ++slow),
    );
    await until(() => slow > 0);
    await api.send(other, { message: 'x'.repeat(100_000) });
    expect(slow).toBeLessThan(hostile.length);
    await Promise.all(hostile);
  });
});
