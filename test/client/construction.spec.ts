import { Sluice, type ResponseInfo, type SluiceOptions } from '#client/index.js';
import { Receiver } from '../support/receiver.js';

const MESSAGE = { id: 'msg_1', message: 'hello', status: 'queued', createdAt: '2026-11-21T09:30:00.123Z' };
const KEY = 'slc_this-is-secret';

describe('A client', () => {
  let server: Receiver;
  const before = { ...process.env };
  beforeAll(async () => {
    server = await Receiver.start();
  });
  afterEach(() => {
    server.received.length = 0;
    for (const name of ['SLUICE_API_KEY', 'SLUICE_BASE_URL']) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, before);
  });
  afterAll(() => {
    server.stop();
  });

  const accepts = (headers: Record<string, string> = {}) =>
    server.url('/messages', (response) => response.writeHead(202, headers).end(JSON.stringify(MESSAGE)));
  const options = () => ({ apiKey: KEY, baseUrl: server.origin });

  describe('of the environment', () => {
    it.each<[string, Record<string, string>, Partial<SluiceOptions>]>([
      ['both variables', { SLUICE_API_KEY: KEY, SLUICE_BASE_URL: '' }, {}],
      ['a key that was passed', { SLUICE_API_KEY: 'slc_other', SLUICE_BASE_URL: '' }, { apiKey: KEY }],
      ['undefined options', { SLUICE_API_KEY: KEY, SLUICE_BASE_URL: '' }, { apiKey: undefined } as object],
    ])('uses %s', async (_, env, passed) => {
      Object.assign(process.env, env, { SLUICE_BASE_URL: server.origin });
      accepts();
      await Sluice.fromEnv(passed).messages.send('hello');
      expect(server.received[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    });

    it.each<[string, Record<string, string>]>([
      ['SLUICE_API_KEY is not set.', { SLUICE_BASE_URL: 'http://127.0.0.1' }],
      ['SLUICE_API_KEY is not set.', { SLUICE_API_KEY: '', SLUICE_BASE_URL: 'http://127.0.0.1' }],
      ['SLUICE_BASE_URL is not set.', { SLUICE_API_KEY: KEY }],
      ['SLUICE_BASE_URL is not set.', { SLUICE_API_KEY: KEY, SLUICE_BASE_URL: '' }],
    ])('says what is missing: %s (%j)', (sentence, env) => {
      Object.assign(process.env, env);
      expect(() => Sluice.fromEnv()).toThrow(new TypeError(sentence));
    });
  });

  it.each<[string, unknown]>([
    ['apiKey must be an API key: slc_….', undefined],
    ['apiKey must be an API key: slc_….', {}],
    ['apiKey must be an API key: slc_….', { baseUrl: 'http://127.0.0.1' }],
    ['baseUrl is missing: the address of the server, such as https://sluice.example.com.', { apiKey: KEY }],
    [
      'baseUrl is missing: the address of the server, such as https://sluice.example.com.',
      { apiKey: KEY, baseUrl: '' },
    ],
    ['baseUrl must be an http: or https: URL without', { apiKey: KEY, baseUrl: '127.0.0.1:3000' }],
  ])('that lacks something is not made: %s', (sentence, given) => {
    expect(() => new Sluice(given as SluiceOptions)).toThrow(sentence);
    expect(() => new Sluice(given as SluiceOptions)).toThrow(TypeError);
  });

  it.each(['maxTries', 'timeoutMs', 'deadlineMs'])('is not made without a bound of %s', (name) => {
    for (const value of [Number.NaN, 0, -1, null, '5000', true])
      expect(() => new Sluice({ ...options(), [name]: value })).toThrow(
        new RangeError(`${name} must be a positive number.`),
      );
    for (const value of [1, Number.POSITIVE_INFINITY, undefined])
      expect(() => new Sluice({ ...options(), [name]: value })).not.toThrow();
  });

  it.each<[string, (sluice: Sluice) => Promise<unknown>]>([
    ['its text', (sluice) => sluice.messages.send('hello', { type: 'a.b', idempotencyKey: 'k' })],
    [
      'its text, without what is no field of it',
      (sluice) =>
        sluice.messages.send('hello', {
          ...{ type: 'a.b', idempotencyKey: 'k', metadata: undefined },
          ...{ signal: new AbortController().signal, onResponse: () => undefined },
        }),
    ],
    ['its fields', (sluice) => sluice.messages.send({ message: 'hello', type: 'a.b' }, { idempotencyKey: 'k' })],
    [
      'its fields, and others',
      (sluice) => sluice.messages.send({ message: 'hello' }, { idempotencyKey: 'k', type: 'a.b' } as object),
    ],
    [
      'its fields, which count',
      (sluice) =>
        sluice.messages.send({ message: 'hello', type: 'a.b' }, { idempotencyKey: 'k', type: 'other' } as object),
    ],
  ])('sends a message by %s', async (_, send) => {
    accepts();
    await send(new Sluice(options()));
    const [received] = server.received;
    expect({ body: JSON.parse(received?.body ?? '') as unknown, key: received?.headers['idempotency-key'] }).toEqual({
      body: { message: 'hello', type: 'a.b' },
      key: 'k',
    });
  });

  describe('tells what a response says', () => {
    const limits = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '59', 'x-ratelimit-reset': '1795266889' };

    it('to the listener of the call and to that of the client', async () => {
      accepts({ ...limits, 'x-request-id': 'r1', 'x-other': 'o' });
      const seen: [string, ResponseInfo][] = [];
      const sluice = new Sluice({ ...options(), onResponse: (response) => seen.push(['client', response]) });
      await sluice.messages.send('hello', { onResponse: (response) => seen.push(['call', response]) });
      expect(seen.map(([of]) => of)).toEqual(['client', 'call']);
      for (const [, { headers, rateLimit, ...rest }] of seen) {
        expect(rest).toEqual({ method: 'POST', path: '/messages', status: 202, requestId: 'r1' });
        expect([headers.get('x-other'), rateLimit?.remaining]).toEqual(['o', 59]);
      }
    });

    it('for each try, and for each page of a list, but of no query', async () => {
      let tries = 0;
      server.url('/messages?limit=1', (response) =>
        ++tries < 2
          ? response.writeHead(503, { 'retry-after': '0' }).end()
          : response.end(JSON.stringify({ data: [MESSAGE], nextCursor: 'c' })),
      );
      server.url('/messages?limit=1&cursor=c', (response) => response.end('{"data":[],"nextCursor":null}'));
      const seen: [number, string, string | null][] = [];
      const onResponse = ({ status, path, requestId }: ResponseInfo) => seen.push([status, path, requestId]);
      for await (const { id } of new Sluice(options()).messages.list({ limit: 1, onResponse }))
        expect(id).toBe('msg_1');
      expect(seen).toEqual([503, 200, 200].map((status) => [status, '/messages', null]));
    });

    it('and an error of the listener ends the call without a repetition', async () => {
      accepts();
      const onResponse = () => {
        throw new Error('mine');
      };
      await expect(new Sluice(options()).messages.send('hello', { onResponse })).rejects.toThrow(new Error('mine'));
      expect(server.received).toHaveLength(1);
    });
  });
});
