import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import {
  ConnectionError,
  RateLimitError,
  ServerError,
  Sluice,
  SluiceError,
  type OnceOptions,
  type Retry,
  type SluiceOptions,
} from '#client/index.js';
import { until } from '../support/processes.js';
import { Receiver, type Behaviour } from '../support/receiver.js';

const API_KEY = 'slc_this-is-secret';
const MESSAGE = { id: 'msg_1', message: 'hello', status: 'queued', createdAt: '2026-11-21T09:30:00.123Z' };

type Answer = Exclude<Behaviour, number>;

/** The OpenAPI document. */
interface Document {
  readonly paths: Readonly<Record<string, { readonly post?: { readonly parameters?: readonly { name: string }[] } }>>;
}

/** Answers the n-th request with the n-th of these, and all further ones with the last. */
function inTurn(...answers: readonly Behaviour[]): Behaviour {
  return (response, received, n) => {
    const answer = answers[Math.min(n, answers.length) - 1];
    if (typeof answer === 'number') response.writeHead(answer).end();
    else answer?.(response, received, n);
  };
}

const json =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const accepted = json(202, MESSAGE);
const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  json(
    status,
    { type: `/errors/${code}`, title: code, status, detail: `It is ${code}.`, code, requestId: 'r1' },
    headers,
  );
const refused = (seconds: number) => problem(429, 'rate_limit_exceeded', { 'retry-after': String(seconds) });
const page: Behaviour = (response) => response.writeHead(502).end('<h1>Bad Gateway</h1>');
const cut: Behaviour = (response) => response.destroy();
const cutInBody: Behaviour = (response) => {
  response.writeHead(202, { 'content-length': '100' }).write('{"id":');
  setTimeout(() => response.destroy(), 20);
};
const silent: Behaviour = () => undefined;
const silentInBody: Behaviour = (response) => response.writeHead(202).write('{"id":');

describe('A call of the client', () => {
  let server: Receiver;
  beforeAll(async () => {
    server = await Receiver.start();
  });
  afterAll(() => {
    server.stop();
  });
  beforeEach(() => {
    server.received.length = 0;
    // The client waits only when the server asks for it.
    jest.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterEach(() => jest.restoreAllMocks());

  const client = (options: Partial<SluiceOptions> = {}) =>
    new Sluice({ apiKey: API_KEY, baseUrl: server.origin, ...options });
  const failure = async (call: Promise<unknown>): Promise<SluiceError> => {
    const error: unknown = await call.then(
      () => null,
      (reason: unknown) => reason,
    );
    if (!(error instanceof SluiceError)) throw new Error(`It was no SluiceError: ${inspect(error)}`);
    return error;
  };

  type Making = (sluice: Sluice, options?: OnceOptions) => Promise<unknown>;
  const made = json(200, { ...MESSAGE, key: 'slc_1', apiKey: {} });
  const since = new Date();
  /** Calls that could do something twice, unless they have an idempotency key. */
  const making: [string, Making][] = [
    ['/accounts', (_sluice, options) => Sluice.signUp({ baseUrl: server.origin, name: 'x' }, options)],
    ['/api-keys', ({ account }, options) => account.keys.create({ name: 'x' }, options)],
    ['/api-keys/key_1/rotate', ({ account }, options) => account.keys.rotate('key_1', {}, options)],
    ['/messages/msg_1/cancel', ({ messages }, options) => messages.cancel('msg_1', options)],
    ['/messages/cancel', ({ messages }, options) => messages.cancelAll({}, options)],
    ['/messages/msg_1/retry', ({ messages }, options) => messages.retry('msg_1', options)],
    ['/messages/retry', ({ messages }, options) => messages.retryAll({ since, until: new Date() }, options)],
    ['/endpoints', ({ endpoints }, options) => endpoints.create({ url: 'https://example.com' }, options)],
    ['/endpoints/ep_1/rotate-secret', ({ endpoints }, options) => endpoints.rotateSecret('ep_1', {}, options)],
    ['/endpoints/ep_1/replay', ({ endpoints }, options) => endpoints.replay('ep_1', { since }, options)],
    ['/admin/accounts', ({ admin }, options) => admin.accounts.create({ name: 'x' }, options)],
    [
      '/admin/accounts/acct_1/api-keys',
      ({ admin }, options) => admin.accounts.createKey('acct_1', { name: 'x' }, options),
    ],
    [
      '/admin/accounts/acct_1/portal-links',
      ({ admin }, options) => admin.accounts.createPortalLink('acct_1', { scopes: ['messages:read'] }, options),
    ],
  ];

  it('takes an idempotency key where the API does', () => {
    const { paths } = JSON.parse(readFileSync(process.env.TEST_OPENAPI ?? '', 'utf8')) as Document;
    const accepting = Object.entries(paths)
      .filter(([, { post }]) => post?.parameters?.some(({ name }) => name === 'Idempotency-Key'))
      .map(([path]) => path.replace(/\{\w+\}/, '{}'));
    const taking = making.map(([path]) => path.replace(/\w+_1/, '{}'));
    expect(accepting.sort()).toEqual([...taking, '/messages', '/messages/batch'].sort());
  });

  describe('is repeated', () => {
    it.each(making)('with an idempotency key, also if its outcome is unknown: POST %s', async (path, call) => {
      server.url(path, inTurn(cut, page, problem(503, 'unavailable'), problem(409, 'idempotency_key_in_use'), made));
      await call(client(), { idempotencyKey: 'billing' });
      expect(server.received.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(5).fill('billing'));
    });

    it.each<[string, Behaviour]>([
      ['a refusal', refused(0)],
      ['503', problem(503, 'unavailable')],
      ['500', problem(500, 'internal_error')],
      ["a proxy's page", page],
      ['a success that is not JSON', (response) => response.end('<h1>Welcome</h1>')],
      ['a success of something else', json(202, {})],
      ['a success that is null', (response) => response.end('null')],
      ['a success that is a list', json(200, [1])],
      ['an empty success', 204],
      ['a connection that breaks', cut],
      ['a body that breaks', cutInBody],
      ['silence', silent],
      ['a body that does not end', silentInBody],
      ['408', problem(408, 'request_timeout')],
      ['a first request that is still running', problem(409, 'idempotency_key_in_use')],
    ])('after %s, with the same idempotency key', async (_, answer) => {
      server.url('/messages', inTurn(answer, answer, accepted));
      const timeoutMs = answer === silent || answer === silentInBody ? 500 : 30_000;
      expect(await client({ timeoutMs }).messages.send('hello')).toEqual(MESSAGE);
      const keys = server.received.map(({ headers }) => headers['idempotency-key']);
      // A busy machine may take longer than the limit of a try even for the last one.
      expect(keys.length).toBeGreaterThanOrEqual(3);
      expect(new Set(keys).size).toBe(1);
      expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    });

    it('not before an acknowledgement is confirmed', async () => {
      server.url(
        '/messages/msg_1/ack',
        inTurn((response) => response.end('null'), 200, 204),
      );
      await client().leases.ack('msg_1', 'token');
      expect(server.received).toHaveLength(3);
    });

    it('after waits with full jitter that double', async () => {
      server.url('/messages', problem(503, 'unavailable'));
      const retries: Retry[] = [];
      jest.spyOn(Math, 'random').mockReturnValue(0.1);
      const sluice = client({ maxTries: 5, onRetry: (retry) => retries.push(retry) });
      const error = await failure(sluice.messages.send('hello'));
      expect(error.code).toBe('unavailable');
      expect(server.received).toHaveLength(5);
      expect(retries.map(({ waitMs, tries }) => [tries, Math.round(waitMs)])).toEqual([
        [1, 50],
        [2, 100],
        [3, 200],
        [4, 400],
      ]);
    });

    it('not before Retry-After', async () => {
      server.url('/messages', inTurn(problem(503, 'unavailable', { 'retry-after': '1' }), accepted));
      await client().messages.send('hello');
      const [first, second] = server.received;
      expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
    });

    it('not before a Retry-After that is a date', async () => {
      const at = new Date(Date.now() + 2_000);
      server.url('/messages', inTurn(problem(503, 'unavailable', { 'retry-after': at.toUTCString() }), accepted));
      await client().messages.send('hello');
      // The date has whole seconds.
      expect(Date.now()).toBeGreaterThanOrEqual(Math.floor(at.getTime() / 1_000) * 1_000);
    });

    it.each(['soon, in 2099', '-5', '1.5', '1e3', '2099-01-01', 'Thu, 99 Foo 2099 25:61:00 GMT', ' ', 'never'])(
      'without a wait for a Retry-After that is neither: %j',
      async (text) => {
        server.url('/messages', problem(503, 'unavailable', { 'retry-after': text }));
        const error = await failure(client({ maxTries: 1 }).messages.send('hello'));
        expect(error).toMatchObject({ status: 503, retryAfter: null });
      },
    );

    it('no more often than maxTries allows', async () => {
      server.url('/messages', cut);
      const error = await failure(client({ maxTries: 3 }).messages.send('hello'));
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({ code: 'connection_failed', status: null, requestId: null, isRetryable: true });
      expect(server.received).toHaveLength(3);
    });

    it('no longer than deadlineMs allows', async () => {
      server.url('/messages', silent);
      const error = await failure(client({ timeoutMs: 200, deadlineMs: 500, maxTries: 100 }).messages.send('hello'));
      expect(error).toMatchObject({ code: 'timed_out', status: null });
      expect(server.received.length).toBeLessThan(5);
    });

    it('not at all if Retry-After ends after its deadline', async () => {
      server.url('/messages', problem(503, 'unavailable', { 'retry-after': '60' }));
      const error = await failure(client({ deadlineMs: 30_000 }).messages.send('hello'));
      expect(error).toMatchObject({ status: 503, retryAfter: 60 });
      expect(server.received).toHaveLength(1);
    });
  });

  it.each([
    ['not now', 'not now'],
    ['', undefined],
    ['\0', undefined],
    ['\ud83d', undefined],
    ['a\0b\udc00', 'ab'],
    ['x'.repeat(999) + '😀', 'x'.repeat(999)],
    ['😀'.repeat(600), '😀'.repeat(500)],
  ])('rejects with a reason of %j, as far as it can be stored', async (reason, expected) => {
    server.url('/messages/msg_1/nack', 204);
    await client().leases.nack('msg_1', 'token', { reason });
    expect(JSON.parse(server.received[0]?.body ?? '')).toEqual({
      leaseToken: 'token',
      ...(expected && { reason: expected }),
    });
  });

  describe('is not repeated', () => {
    it.each([
      [400, 'validation_failed'],
      [401, 'unauthorized'],
      [403, 'insufficient_scope'],
      [404, 'message_not_found'],
      [409, 'invalid_transition'],
      [413, 'body_too_large'],
      [422, 'idempotency_key_reused'],
      [507, 'storage_full'],
    ])('after %i %s', async (status, code) => {
      server.url('/messages', problem(status, code));
      const error = await failure(client().messages.send('hello'));
      expect(error).toMatchObject({ status, code, message: `It is ${code}.`, requestId: 'r1', isRetryable: false });
      expect(server.received).toHaveLength(1);
    });

    it.each([
      ...([500, 502, 503, 504, 520] as const).map((status) => [status, 'DELETE', true] as const),
      [507, 'DELETE', true],
      [502, 'GET', false],
      [404, 'DELETE', false],
      [413, 'DELETE', false],
    ] as const)(
      'and says when the outcome is unknown: after %i of a proxy for a %s',
      async (status, method, isUnknown) => {
        server.url('/api-keys/key_1', (response) => response.writeHead(status).end('<h1>It failed.</h1>'));
        server.url('/account', (response) => response.writeHead(status).end('<h1>It failed.</h1>'));
        const { account } = client({ maxTries: 1 });
        const error = await failure(method === 'GET' ? account.get() : account.keys.revoke('key_1'));
        expect(error).toMatchObject({ status, code: 'unexpected_response' });
        expect(error.message.endsWith(' The outcome is unknown.')).toBe(isUnknown);
      },
    );

    it('after a redirect, which would make a GET of a POST', async () => {
      server.url('/messages', json(301, {}, { location: '/elsewhere' }));
      server.url('/elsewhere', json(200, MESSAGE));
      const error = await failure(client().messages.send('hello'));
      expect(error).toMatchObject({ status: 301, code: 'unexpected_response', problem: null });
      expect(server.received).toHaveLength(1);
    });

    const unrepeatable: [string, Making][] = [
      ...making,
      ['/endpoints/ep_1/test', (sluice) => sluice.endpoints.test('ep_1')],
    ];

    it.each(unrepeatable)('if it cannot be and its outcome is unknown: POST %s', async (path, call) => {
      for (const answer of [cut, page, problem(503, 'unavailable')]) {
        server.received.length = 0;
        server.url(path, answer);
        await failure(call(client()));
        expect(server.received).toHaveLength(1);
      }
    });

    it('if it cannot be and its time is over', async () => {
      server.url('/api-keys', silent);
      const error = await failure(client({ timeoutMs: 500 }).account.keys.create({ name: 'x' }));
      expect(error).toMatchObject({ code: 'timed_out', isRetryable: true });
      await until(() => server.received.length > 0);
      expect(server.received).toHaveLength(1);
    });

    it.each(unrepeatable)('unless it was refused: POST %s', async (path, call) => {
      server.url(path, inTurn(refused(0), made));
      await call(client());
      expect(server.received).toHaveLength(2);
    });

    it('unless it was not sent at all', async () => {
      const retries: Retry[] = [];
      const gone = await Receiver.start();
      const sluice = client({ baseUrl: gone.origin, maxTries: 2, onRetry: (retry) => retries.push(retry) });
      gone.stop();
      await failure(sluice.account.keys.create({ name: 'x' }));
      expect(retries).toHaveLength(1);
    });

    it.each([
      [{ syscall: 'connect' }, 2],
      [{ syscall: 'read' }, 1],
      [{ errors: [] }, 1],
      [{ errors: [{ syscall: 'connect' }, { code: 'UND_ERR_CONNECT_TIMEOUT' }] }, 2],
      [{ errors: [{ syscall: 'connect' }, { syscall: 'read' }] }, 1],
      [{ errors: [{ syscall: 'read' }, { syscall: 'connect' }] }, 1],
      [{ errors: [{ syscall: 'read' }], syscall: 'connect' }, 1],
    ])('unless it was not sent at all, which %j of the same error decides', async (details, times) => {
      const cause = Object.assign(new Error('No route.'), { code: 'EHOSTUNREACH', ...details });
      const fetch = jest.fn(() => Promise.reject(new TypeError('fetch failed', { cause })));
      await failure(client({ fetch, maxTries: 2 }).account.keys.create({ name: 'x' }));
      expect(fetch).toHaveBeenCalledTimes(times);
    });
  });

  it('has succeeded if what an earlier try of it was to delete is not there', async () => {
    server.url('/api-keys/key_1', inTurn(cut, problem(404, 'api_key_not_found')));
    await client().account.keys.revoke('key_1');
    expect(server.received).toHaveLength(2);
    await failure(client().account.keys.revoke('key_1'));
    server.received.length = 0;
    server.url('/api-keys/key_1', inTurn(cut, 404));
    expect(await failure(client().account.keys.revoke('key_1'))).toMatchObject({ code: 'unexpected_response' });
  });

  it('sends what it was given, also if that is changed afterwards', async () => {
    server.url('/messages/batch', inTurn(problem(503, 'unavailable'), json(202, { data: [] })));
    const messages = [{ message: 'one' }];
    const sending = client().messages.sendBatch(messages);
    messages[0] = { message: 'two' };
    await sending;
    expect(server.received.map(({ body }) => body)).toEqual(Array(2).fill('{"messages":[{"message":"one"}]}'));
  });

  const NEVER = new Date(Number.NaN);
  it.each<[string, (sluice: Sluice) => Promise<unknown>]>([
    ['deliverAt of a message', ({ messages }) => messages.send('hello', { deliverAt: NEVER })],
    ['deliverAt in a batch', ({ messages }) => messages.sendBatch([{ message: 'hello', deliverAt: NEVER }])],
    ['since of a list', ({ messages }) => messages.list({ since: NEVER }).page()],
    ['since of what is cancelled', ({ messages }) => messages.cancelAll({ since: NEVER })],
    ['until of what is retried', ({ messages }) => messages.retryAll({ since: new Date(0), until: NEVER })],
    ['until of a replay', ({ endpoints }) => endpoints.replay('ep_1', { since: new Date(0), until: NEVER })],
    ['expiresAt of a key', ({ account }) => account.keys.create({ name: 'CI', expiresAt: NEVER })],
    ['graceSeconds of a key', ({ account }) => account.keys.rotate('key_1', { graceSeconds: Number.NaN })],
    ['graceSeconds of a secret', ({ endpoints }) => endpoints.rotateSecret('ep_1', { graceSeconds: Number.NaN })],
    ['a rate', ({ endpoints }) => endpoints.update('ep_1', { rateLimitPerSecond: Number.POSITIVE_INFINITY })],
    ['seconds of a lease', ({ leases }) => leases.lease({ seconds: Number.NaN })],
    ['a delay', ({ leases }) => leases.nack('msg_1', 'token', { delaySeconds: Number.NaN })],
  ])('sends no null for %s that is no time or number', async (_what, call) => {
    await expect(call(client())).rejects.toThrow(RangeError);
    expect(server.received).toEqual([]);
  });

  it.each<[string, (sluice: Sluice) => Promise<unknown>]>([
    ['a Map', ({ messages }) => messages.send('hello', { metadata: new Map([['a', 'b']]) } as never)],
    [
      'headers',
      ({ endpoints }) => endpoints.create({ url: 'https://a.example', headers: new Headers({ a: 'b' }) } as never),
    ],
    [
      'parameters',
      ({ messages }) => messages.sendBatch([{ message: 'x', metadata: new URLSearchParams('a=b') } as never]),
    ],
    ['a set', ({ endpoints }) => endpoints.update('ep_1', { types: new Set(['a']) } as never)],
    ['a key that is true', ({ messages }) => messages.send('hello', { idempotencyKey: true } as never)],
    [
      'a key that is true, of a key',
      ({ account }) => account.keys.create({ name: 'x' }, { idempotencyKey: true } as never),
    ],
    ['a key that is NaN', ({ messages }) => messages.sendBatch([], { idempotencyKey: Number.NaN } as never)],
  ])('makes no other value of %s', async (_what, call) => {
    await expect(call(client())).rejects.toThrow(TypeError);
    expect(server.received).toEqual([]);
  });

  it('has a key of its own for each call without one, also where that is null', async () => {
    server.url('/messages', accepted);
    const options = { idempotencyKey: null } as never;
    for (const text of ['one', 'two']) await client().messages.send(text, options);
    const keys = server.received.map(({ headers }) => headers['idempotency-key']);
    expect([new Set(keys).size, keys.includes('null')]).toEqual([2, false]);
  });

  it('sends a Date of another realm in a query, and leaves out what is null', async () => {
    server.url('/messages?since=1970-01-01T00%3A00%3A00.000Z', json(200, { data: [], nextCursor: null }));
    const since = runInNewContext('new Date(0)') as Date;
    expect(
      (
        await client()
          .messages.list({ since, cursor: null } as object)
          .page()
      ).data,
    ).toEqual([]);
  });

  it.each([null, 'fetch'])('is refused without a fetch: %j', async (given) => {
    await expect(client({ fetch: given } as never).messages.send('hello')).rejects.toThrow(TypeError);
  });

  it('takes a signal of a polyfill, or none', async () => {
    server.url('/messages', accepted);
    const listeners: (() => void)[] = [];
    const signal = {
      aborted: false,
      addEventListener: (_name: string, listener: () => void) => listeners.push(listener),
    };
    for (const one of [signal, null])
      expect((await client().messages.send('hello', { signal: one as never })).id).toBe('msg_1');
    server.url('/messages', silent);
    const sending = client().messages.send('hello', { signal: signal as never });
    signal.aborted = true;
    for (const listener of listeners) listener();
    await expect(sending).rejects.toMatchObject({ name: 'AbortError' });
    await expect(client().messages.send('hello', { signal: signal as never })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  it('asks no cache', async () => {
    server.url('/messages', accepted);
    const asked: unknown[] = [];
    const spy: typeof fetch = (url, init) => {
      asked.push((init as { readonly cache?: string } | undefined)?.cache);
      return fetch(url, init);
    };
    await client({ fetch: spy }).messages.send('hello');
    expect(asked).toEqual(['no-store']);
  });

  it('sends null where the caller does', async () => {
    server.url('/endpoints/ep_1', json(200, { id: 'ep_1' }));
    await client().endpoints.update('ep_1', { rateLimitPerSecond: null, types: null });
    expect(server.received[0]?.body).toBe('{"rateLimitPerSecond":null,"types":null}');
  });

  it.each([['c'], [5], [true], [{}]])('reads no list for ever whose cursor is always %j', async (nextCursor) => {
    for (const path of ['/messages', '/messages?cursor=c']) {
      server.url(path, json(200, { data: [MESSAGE], nextCursor }));
    }
    const items = client().messages.list();
    const read = (async () => {
      for await (const item of items) expect(item).toEqual(MESSAGE);
    })();
    expect(await failure(read)).toMatchObject({ code: 'unexpected_response', status: 200 });
    expect(server.received.length).toBeLessThanOrEqual(2);
  });

  it.each(['', '.', '..'])('goes to no other path for the id %j', async (id) => {
    const { messages, endpoints, account } = client();
    for (const call of [
      () => messages.get(id),
      () => messages.cancel(id),
      () => messages.retry(id),
      () => messages.attempts(id),
      () => endpoints.delete(id),
      () => account.keys.revoke(id),
    ]) {
      await expect((async () => call())()).rejects.toThrow(TypeError);
    }
    expect(server.received).toHaveLength(0);
  });

  it('has its own idempotency key unless it is given one', async () => {
    server.url('/messages', accepted);
    const sluice = client();
    for (const options of [{}, {}, { idempotencyKey: 'order-4711' }]) await sluice.messages.send('hello', options);
    const [first, second, third] = server.received.map(({ headers }) => headers['idempotency-key']);
    expect(first).not.toBe(second);
    expect(third).toBe('order-4711');
  });

  describe('that is aborted', () => {
    it.each<[string, Behaviour]>([
      ['before the response', silent],
      ['in the body', silentInBody],
      ['in a wait', problem(503, 'unavailable', { 'retry-after': '60' })],
      ['in a pause', refused(60)],
    ])('ends at once with its reason %s', async (_, answer) => {
      server.url('/messages', answer);
      const abort = new AbortController();
      const call = client().messages.send('hello', { signal: abort.signal });
      await until(() => server.received.length > 0);
      setTimeout(() => {
        abort.abort(new Error('enough'));
      }, 50);
      await expect(call).rejects.toThrow('enough');
      expect(server.received).toHaveLength(1);
    });

    it('before it begins sends nothing', async () => {
      server.url('/messages', accepted);
      await expect(client().messages.send('hello', { signal: AbortSignal.abort() })).rejects.toThrow(
        expect.objectContaining({ name: 'AbortError' }) as Error,
      );
      expect(server.received).toHaveLength(0);
    });

    it('shares its signal with any number of others', async () => {
      server.url('/messages', accepted);
      const warnings: Error[] = [];
      const warned = (warning: Error) => warnings.push(warning);
      process.on('warning', warned);
      const { signal } = new AbortController();
      const sluice = client();
      await Promise.all(Array.from({ length: 20 }, () => sluice.messages.send('hello', { signal })));
      process.off('warning', warned);
      expect(warnings).toEqual([]);
    });
  });

  describe('after a refusal', () => {
    it('waits together with all others of the client, and none is refused again', async () => {
      jest.restoreAllMocks();
      let open = false;
      server.url('/messages', (response, received, n) => {
        if (n === 1) setTimeout(() => (open = true), 990);
        (open ? accepted : refused(1))(response, received, n);
      });
      const timers = jest.spyOn(globalThis, 'setTimeout');
      let isRefused = false;
      const sluice = client({ onRetry: () => (isRefused = true) });
      const first = sluice.messages.send('first');
      await until(() => isRefused);
      await Promise.all([first, ...Array.from({ length: 30 }, () => sluice.messages.send('hello'))]);
      expect(server.received).toHaveLength(32);
      const [one, ...others] = server.received.map(({ at }) => at);
      for (const at of others) expect(at - (one ?? 0)).toBeGreaterThanOrEqual(990);
      // Spread, so that they don't arrive in one instant.
      const waits = timers.mock.calls.map(([, ms]) => Number(ms)).filter((ms) => ms > 1_000 && ms < 10_000);
      expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(300);
    });

    it('fails without a request while the pause is longer than its deadline', async () => {
      server.url('/messages', refused(3_600));
      const sluice = client();
      for (let n = 0; n < 5; n++) {
        const error = await failure(sluice.messages.send('hello'));
        expect(error).toBeInstanceOf(RateLimitError);
        expect(error.retryAfter).toBeGreaterThan(3_590);
      }
      expect(server.received).toHaveLength(1);
    });

    it('fails with what remains of the pause, and its own error', async () => {
      server.url('/messages', refused(3_600));
      const sluice = client();
      const [first, second] = [
        await failure(sluice.messages.send('hello')),
        await failure(sluice.messages.send('hello')),
      ];
      const now = jest.spyOn(performance, 'now');
      now.mockReturnValue(performance.now() + 10_000);
      const third = await failure(sluice.messages.send('hello'));
      expect(second).not.toBe(third);
      expect(third).toBeInstanceOf(RateLimitError);
      expect(third).toMatchObject({ code: first.code, status: 429, requestId: null, problem: null, cause: first });
      expect(third.retryAfter).toBeLessThanOrEqual(3_590);
      expect(third.retryAfter).toBeGreaterThan(3_500);
    });

    it('ends no longer pause by a shorter one', async () => {
      const answers: (() => void)[] = [];
      server.url('/messages', (response, received, n) => {
        answers.push(() => {
          refused(n === 1 ? 3_600 : 0)(response, received, n);
        });
      });
      const sluice = client({ maxTries: 1 });
      const both = ['one', 'other'].map((text) => failure(sluice.messages.send(text)));
      await until(() => answers.length === 2);
      answers[0]?.();
      await Promise.race(both);
      answers[1]?.();
      await Promise.all(both);
      await failure(sluice.messages.send('third'));
      expect(server.received).toHaveLength(2);
    });

    it('sends nothing once its deadline has passed', async () => {
      jest.spyOn(Math, 'random').mockReturnValue(0.999);
      server.url('/api-keys', inTurn(refused(1), json(200, MESSAGE)));
      const timers = jest.spyOn(globalThis, 'setTimeout');
      const call = client({ deadlineMs: 1_200 }).account.keys.create({ name: 'x' });
      const error = await call.catch((reason: unknown) => reason);
      // It had the time, or it was not sent.
      expect(server.received).toHaveLength(error instanceof RateLimitError ? 1 : 2);
      expect(timers.mock.calls.filter(([, ms]) => Number(ms) < 0)).toEqual([]);
      expect(timers.mock.calls.filter(([, ms]) => Number(ms) > 1_200)).toEqual([]);
    });

    it('finds out once a minute whether the pause is over', async () => {
      server.url('/messages', inTurn(refused(3_600), refused(3_600), accepted));
      const sluice = client();
      const now = jest.spyOn(performance, 'now');
      const start = performance.now();
      const sendAt = (seconds: number) => {
        now.mockReturnValue(start + seconds * 1_000);
        return Promise.allSettled(Array.from({ length: 3 }, () => sluice.messages.send('hello')));
      };
      const statuses = async (seconds: number) => (await sendAt(seconds)).map(({ status }) => status);
      await sluice.messages.send('hello').catch(() => undefined);
      expect(await statuses(30)).toEqual(['rejected', 'rejected', 'rejected']);
      expect(server.received).toHaveLength(1);
      expect(await statuses(70)).toEqual(['rejected', 'rejected', 'rejected']);
      expect(server.received).toHaveLength(2);
      expect(await statuses(140)).toEqual(['fulfilled', 'rejected', 'rejected']);
      expect(await statuses(141)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    });
  });

  describe('that fails', () => {
    const everything = (error: unknown) =>
      [inspect(error, { depth: 10, showHidden: true }), JSON.stringify(error), String((error as Error).stack)].join();

    it.each<[string, Behaviour]>([
      ['401', problem(401, 'unauthorized')],
      ['a page', page],
      ['no response', cut],
    ])('does not show the key: %s', async (_, answer) => {
      server.url('/messages', answer);
      const sluice = client({ maxTries: 1 });
      const error = await failure(sluice.messages.send('hello'));
      expect(everything(error)).not.toContain('secret');
      expect(everything(sluice)).not.toContain('secret');
      expect(everything(sluice.messages)).not.toContain('secret');
    });

    it.each([['slc_secret\n'], ['slc_secret é'], ['Bearer slc_secret'], ['']])(
      'at a key that is none does not show it: %j',
      (apiKey) => {
        let error: unknown;
        try {
          client({ apiKey });
        } catch (thrown) {
          error = thrown;
        }
        expect(error).toBeInstanceOf(TypeError);
        expect(everything(error)).not.toContain('secret');
      },
    );

    it.each([
      'http://user:hunter2@127.0.0.1',
      'http://user:hunter2@[',
      'user:hunter2@127.0.0.1',
      'ftp://127.0.0.1/hunter2',
      'http://127.0.0.1/?x=hunter2',
      'http://127.0.0.1/#hunter2',
      '',
    ])('at a base URL that is none does not show it: %j', (baseUrl) => {
      let error: unknown;
      try {
        client({ baseUrl });
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(TypeError);
      expect(everything(error)).toContain('baseUrl');
      expect((error as Error).message + JSON.stringify(error)).not.toContain('hunter2');
      expect(inspect(error, { showHidden: true }).split('\n')[0]).not.toContain('hunter2');
    });

    const readings: [string, boolean, (sluice: Sluice) => Promise<unknown>][] = [
      ['/messages/msg_1', false, ({ messages }) => messages.get('msg_1')],
      ['/messages/msg_1/cancel', false, ({ messages }) => messages.cancel('msg_1')],
      ['/account/usage', false, ({ account }) => account.usage()],
      ['/account', false, ({ account }) => account.get()],
      ['/messages/msg_1/attempts', true, ({ messages }) => messages.attempts('msg_1')],
      ['/messages/msg_1/deliveries', true, ({ messages }) => messages.deliveries('msg_1')],
      ['/messages/batch', true, ({ messages }) => messages.sendBatch([{ message: 'x' }])],
      ['/messages/lease', true, ({ leases }) => leases.lease()],
      ['/messages/ack', true, ({ leases }) => leases.ackBatch([])],
      ['/messages', true, ({ messages }) => messages.list().page()],
      ['/endpoints', true, ({ endpoints }) => endpoints.list()[Symbol.asyncIterator]().next()],
      ['/admin/accounts', true, ({ admin }) => admin.accounts.list().page()],
    ];
    const noObjects = ['[]', '[{"id":"msg_1"}]', '"abc"', '17', 'true', 'null', '{}', ' { } '];
    const noLists = [
      '{"id":"msg_1"}',
      ...['null', '"abc"', '{"0":{}}', '[1]', '[null]'].map((data) => `{"data":${data}}`),
    ];

    it.each(readings)('because of a response that is no result: %s', async (path, hasData, call) => {
      for (const text of [...noObjects, ...(hasData ? noLists : [])]) {
        server.url(path, (response) => response.end(text));
        const error = await failure(call(client({ maxTries: 1 })));
        expect([text, error.code, error.status]).toEqual([text, 'unexpected_response', 200]);
      }
    });

    it.each([
      ['timeoutMs', { timeoutMs: 50 }, undefined],
      ['its signal', {}, AbortSignal.timeout(50)],
    ])('after %s, whatever fetch does with its signal', async (_, options, signal) => {
      const fetch = () => new Promise<never>(() => undefined);
      const call = client({ fetch, maxTries: 1, ...options }).messages.send('hello', { signal });
      await expect(call).rejects.toMatchObject(signal ? { name: 'TimeoutError' } : { code: 'timed_out' });
    });

    it("says what a proxy's page means", async () => {
      server.url('/messages', page);
      const error = await failure(client({ maxTries: 1 }).messages.send('hello'));
      expect(error).toBeInstanceOf(ServerError);
      expect(error).toMatchObject({ code: 'unexpected_response', status: 502, problem: null });
    });

    it.each([
      [{}, undefined],
      [{ errors: 'nope' }, undefined],
      [{ errors: { 0: 'x' } }, undefined],
      [{ errors: null }, undefined],
      [{ errors: [null, 1, 'x', {}, { pointer: 1, detail: 'x' }, { pointer: '/x' }] }, []],
      [{ errors: [null, { pointer: '/x', detail: 'y' }] }, [{ pointer: '/x', detail: 'y' }]],
      [{ requestId: 5 }, undefined],
      [{ requestId: {} }, undefined],
    ])("reads what has the right type in a proxy's problem document: %j", async (members, errors) => {
      const body = { detail: 'It failed.', code: 'x', ...members };
      server.url('/messages', json(400, body, { 'x-request-id': 'r2' }));
      const error = await failure(client().messages.send('hello'));
      expect(error).toMatchObject({ message: 'It failed.', code: 'x', status: 400, requestId: 'r2' });
      expect(error.problem?.errors).toEqual(errors);
    });

    it('because its input cannot be sent is no SluiceError, and is not repeated', async () => {
      const circular: { perMinute: number; minutes: number; self?: unknown } = { perMinute: 1, minutes: 1 };
      circular.self = circular;
      const sluice = client();
      await expect(sluice.account.simulate(circular)).rejects.toThrow('circular');
      for (const idempotencyKey of ['order→4711', 'order 4711', '', 'x'.repeat(256)]) {
        await expect(sluice.messages.send('hello', { idempotencyKey })).rejects.toThrow(
          'idempotencyKey must be 1 to 255 visible ASCII characters without spaces.',
        );
      }
      await expect(client({ baseUrl: 'http://127.0.0.1:1' }).account.get()).rejects.toThrow('fetch failed');
      expect(server.received).toHaveLength(0);
    });
  });

  it('tells what remains of the limits', async () => {
    const headers = {
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '18',
      'x-ratelimit-reset': '1795266889',
      'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
      ratelimit: '"minute";r=18;t=42, "day";r=812;t=30211',
    };
    server.url('/messages', inTurn(json(202, MESSAGE, headers), accepted));
    const sluice = client();
    expect(sluice.rateLimit).toBeNull();
    const before = Date.now();
    await sluice.messages.send('hello');
    const { windows = [], ...tightest } = sluice.rateLimit ?? {};
    expect(tightest).toEqual({ limit: 60, remaining: 18, resetsAt: new Date(1_795_266_889_000) });
    expect(windows).toMatchObject([
      { name: 'minute', limit: 60, remaining: 18 },
      { name: 'day', limit: 1_000, remaining: 812 },
    ]);
    expect(windows[0]?.resetsAt.getTime()).toBeGreaterThanOrEqual(before + 42_000);
    await sluice.messages.send('hello');
    expect(sluice.rateLimit?.remaining).toBe(18);
  });

  it.each(['1800000000000000000', '-9000000000000000', 'Infinity', '9'.repeat(400), 'soon', '2026-11-29'])(
    'says nothing of limits that are reset at %s',
    async (reset) => {
      const headers = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '18', 'x-ratelimit-reset': reset };
      server.url('/messages', json(202, MESSAGE, headers));
      const sluice = client();
      await sluice.messages.send('hello');
      expect(sluice.rateLimit).toBeNull();
    },
  );

  it.each(['1800000000000000000', '9'.repeat(400)])('leaves out a window that ends in %s s', async (seconds) => {
    const headers = {
      ...{ 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '18', 'x-ratelimit-reset': '1795266889' },
      ratelimit: `"minute";r=18;t=${seconds}, "day";r=812;t=30211`,
    };
    server.url('/messages', json(202, MESSAGE, headers));
    const sluice = client();
    await sluice.messages.send('hello');
    expect(sluice.rateLimit?.windows.map(({ name }) => name)).toEqual(['day']);
  });

  it('goes to the path of the base URL', async () => {
    server.url('/sluice/messages', accepted);
    for (const baseUrl of [`${server.origin}/sluice`, new URL(`${server.origin}/sluice/`)]) {
      await client({ baseUrl }).messages.send('hello');
    }
    server.url('/messages/a%2Fb', json(200, MESSAGE));
    expect(await client().messages.get('a/b')).toEqual(MESSAGE);
  });
});
