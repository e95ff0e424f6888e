import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import fc from 'fast-check';
import { ERRORS } from '../../apps/api/errors.js';
import { expectEveryHeader, lastOf } from '../e2e/headers/wire.js';
import { anyCharacter } from '../support/any-text.js';
import { accountOf, ownApi } from '../support/api.js';
import { eventLoopLagMs } from '../support/metrics.js';

const RUNS = Number(process.env.FUZZ_RUNS ?? (process.env.SLUICE_TEST === 'all' ? 150 : 60));
const { FUZZ_SEED = '' } = process.env;
const SEED = FUZZ_SEED === '' ? randomInt(2 ** 31) : Number(FUZZ_SEED);
const MAX_LAG_MS = 5_000;
/** How long a connection stays open after a response, in case another one follows. */
const SILENCE_MS = 150;
const FINAL = /HTTP\/1\.1 [2-5]\d\d /;
const SUCCESSES = [200, 202, 204];
jest.setTimeout(60_000 + RUNS * 500);

const TARGETS = ['/messages', '/messages/any', '/account', '/messages?limit=1', '/api-keys', '*', 'http://a/messages'];
const HEADERS = [
  ...['Connection: close', 'Expect: 100-continue', 'Content-Encoding: gzip', 'Content-Encoding: identity'],
  ...['Content-Length: 15', 'Idempotency-Key: k', 'X-Request-Id: a', 'X-Forwarded-For: ::1', 'Accept: x/y'],
  'Upgrade: x',
];
const BODIES = [
  'Content-Length: 15\r\n\r\n{"message":"x"}',
  'Transfer-Encoding: chunked\r\n\r\nf\r\n{"message":"x"}\r\n0\r\n\r\n',
  ...[
    'Content-Length: 3\r\n\r\n{}\n',
    'Content-Length: 0\r\n\r\n',
    'Content-Length: 99\r\n\r\n{"message":',
    '\r\n\r\n',
  ],
];

const mostly = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 15, arbitrary: usual }, { weight: 1, arbitrary: odd });
const among = (...values: string[]) => fc.constantFrom(...values);

/** A request that might be valid, with the key of an account or without. */
const requests = fc
  .record({
    method: mostly(
      among('GET', 'POST', 'POST', 'POST'),
      among('PUT', 'DELETE', 'HEAD', 'OPTIONS', 'CONNECT', 'PRI', 'get'),
    ),
    target: mostly(among('/messages', ...TARGETS), fc.oneof(fc.webPath(), fc.string())),
    version: mostly(among('HTTP/1.1'), among('HTTP/1.0', 'HTTP/2.0', '')),
    headers: fc.array(mostly(among(...HEADERS), fc.string()), { maxLength: 5 }),
    caller: among('Authorization: Bearer KEY', 'Authorization: Bearer KEY', 'Authorization: Basic KEY'),
    body: mostly(among(...BODIES), fc.string()),
  })
  .map(({ method, target, version, headers, caller, body }) =>
    [`${method} ${target} ${version}`, 'Host: sluice', 'Content-Type: application/json', caller, ...headers, body].join(
      '\r\n',
    ),
  );

/** Changes of the bytes of a request: removals and insertions. */
const mutations = fc.oneof(
  fc.constant([]),
  fc.array(
    fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      remove: fc.nat(3),
      insert: fc.oneof(
        fc.uint8Array({ maxLength: 4 }),
        fc.constantFrom(...['\r', '\n', '\0', ' ', ':', ','].map(bytes)),
      ),
    }),
    { maxLength: 3 },
  ),
);

function bytes(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}

function mutate(text: string, changes: readonly { at: number; remove: number; insert: Uint8Array }[]): Buffer {
  let result = Buffer.from(text, 'latin1');
  for (const { at, remove, insert } of changes) {
    const place = Math.floor(at * result.length);
    result = Buffer.concat([result.subarray(0, place), insert, result.subarray(place + remove)]);
  }
  return result;
}

describe(`${RUNS} random requests from seed ${SEED}`, () => {
  const api = ownApi({ REQUEST_TIMEOUT_MS: '1000' });
  const account = accountOf(api);

  const seen: Record<string, number> = {};

  beforeAll(() => {
    process.stdout.write(`fuzzing with seed ${SEED}\n`);
  });

  /** Sends bytes. @returns everything received until the connection closes or is silent after a response */
  const exchange = (text: Buffer) =>
    new Promise<string>((resolve) => {
      const { hostname, port } = new URL(api.url);
      const socket = connect({ host: hostname, port: Number(port) });
      let received = '';
      let timer: NodeJS.Timeout | undefined;
      socket.setEncoding('latin1').on('data', (piece) => {
        received += String(piece);
        clearTimeout(timer);
        if (FINAL.test(received)) timer = setTimeout(() => socket.destroy(), SILENCE_MS);
      });
      // After a reset, what was received before is checked.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearTimeout(timer);
        resolve(received);
      });
      socket.write(text);
    });

  /** Checks each response. @returns the number of 202s */
  const check = (received: string, sentAt: number): number => {
    const responses = received.split(/(?=HTTP\/1\.1 \d{3} )/).filter((response) => response !== '');
    for (const response of responses) {
      const [head = '', body = ''] = response.split('\r\n\r\n', 2);
      const { status, headers } = lastOf(head);
      seen[status] = (seen[status] ?? 0) + 1;
      if (status === 100) continue;
      expect(head).toMatch(/^HTTP\/1\.1 \d{3} /);
      expectEveryHeader({ status, headers }, sentAt - 1_000);
      if (SUCCESSES.includes(status) || body === '') continue;
      const problem = JSON.parse(Buffer.from(body, 'latin1').toString()) as { code: string };
      expect(problem).toMatchObject({ title: ERRORS[problem.code]?.title, status });
      expect([500, 503]).not.toContain(status);
    }
    return responses.filter((response) => response.startsWith('HTTP/1.1 202')).length;
  };

  it('get valid responses and are stored only if accepted', async () => {
    let accepted = 0;
    let keyed = 0;
    await fc.assert(
      fc.asyncProperty(requests, mutations, async (text, changes) => {
        const sentAt = Date.now();
        accepted += check(await exchange(mutate(text.replace('KEY', account.key), changes)), sentAt);
        const stored = await api.stored(account);
        // A replay is accepted and stores nothing.
        keyed = stored?.keys ?? 0;
        expect(stored?.messages).toBeLessThanOrEqual(accepted);
        if (keyed === 0) expect(stored?.messages).toBe(accepted);
      }),
      { numRuns: RUNS, seed: SEED },
    );
    expect((await api.ask(null, 'GET /unknown')).status).toBe(404);
    const lagMs = await eventLoopLagMs(api.managementUrl);
    process.stdout.write(`responses: ${JSON.stringify(seen)}, event loop blocked for ${lagMs} ms\n`);
    expect(lagMs).toBeLessThan(MAX_LAG_MS);
  });

  it('with any JSON body get 202 or 400 and are stored only if accepted', async () => {
    const json = fc.oneof(
      fc.record({ message: fc.oneof(fc.string({ unit: anyCharacter }), fc.jsonValue()) }),
      fc.jsonValue({ maxDepth: 6 }),
      fc.dictionary(fc.constantFrom('message', '__proto__', 'constructor', 'deliverAt', 'then'), fc.jsonValue()),
    );
    await fc.assert(
      fc.asyncProperty(json, async (value) => {
        const before = (await api.stored(account))?.messages ?? 0;
        const response = await api.send(account, { body: JSON.stringify(value) });
        expect([202, 400]).toContain(response.status);
        const after = (await api.stored(account))?.messages ?? 0;
        expect(after - before).toBe(response.status === 202 ? 1 : 0);
        if (response.status === 202) {
          const { message } = JSON.parse(response.bytes.toString()) as { message: unknown };
          expect(message).toBe((value as { message: unknown }).message);
        }
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });
});
