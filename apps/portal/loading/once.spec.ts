import { ConnectionError, ConflictError, InvalidRequestError, RateLimitError, ServerError } from '#client/index.js';
import { forgetPending, mayBeDone, once } from './once.js';

const failure = (Class: typeof ServerError, status: number | null, code = 'none') =>
  new (Class as new (details: object) => Error)({ message: 'It failed.', code, status });
const LOST = failure(ConnectionError as never, null, 'connection_failed');
const FAILED = failure(ServerError, 503, 'unavailable');
const UNREADABLE = failure(ServerError, 200, 'unexpected_response');
const IN_USE = failure(ConflictError as never, 409, 'idempotency_key_in_use');
const FULL = failure(ServerError, 507, 'storage_full');
const INVALID = failure(InvalidRequestError as never, 400, 'validation_failed');
const LIMITED = failure(RateLimitError as never, 429, 'rate_limit_exceeded');
const TEXT = { message: 'one' };
const OTHER = { message: 'two' };

describe('A request of the portal', () => {
  let keys: string[];
  const send = (content: object, error?: Error) =>
    once(content, async (key) => {
      keys.push(key);
      await Promise.resolve();
      if (error !== undefined) throw error;
    }).catch(() => undefined);

  beforeEach(() => {
    forgetPending();
    keys = [];
  });

  it.each<[string, readonly (readonly [object, Error?])[], string, boolean]>([
    ['has another key after a success', [[TEXT], [TEXT]], 'AB', false],
    ['has the same one after a broken connection', [[TEXT, LOST], [TEXT]], 'AA', false],
    ['has the same one until it succeeds', [[TEXT, LOST], [TEXT, FAILED], [TEXT], [TEXT]], 'AAAB', false],
    [
      'has the same one after a failure of the server',
      [
        [TEXT, FAILED],
        [TEXT, FAILED],
      ],
      'AA',
      true,
    ],
    [
      'has the same one after a response that is none',
      [
        [TEXT, UNREADABLE],
        [TEXT, LOST],
      ],
      'AA',
      true,
    ],
    [
      'has the same one while the first is in progress',
      [
        [TEXT, LOST],
        [TEXT, IN_USE],
        [TEXT, LOST],
      ],
      'AAA',
      true,
    ],
    ['has another one after a refusal', [[TEXT, INVALID], [TEXT]], 'AB', false],
    [
      'has another one after a full storage',
      [
        [TEXT, FULL],
        [TEXT, FULL],
      ],
      'AB',
      false,
    ],
    ['has the same one after a refusal of a repetition', [[TEXT, LOST], [TEXT, LIMITED], [TEXT]], 'AAA', false],
    [
      'with another content has another one',
      [
        [TEXT, LOST],
        [OTHER, LOST],
      ],
      'AB',
      true,
    ],
    ['has its own again after another content', [[TEXT, LOST], [OTHER], [TEXT]], 'ABA', false],
  ])('%s', async (_what, requests, expected, isPending) => {
    for (const [content, error] of requests) await send({ ...content }, error);
    const distinct = [...new Set(keys)];
    expect(keys.map((key) => 'ABC'[distinct.indexOf(key)]).join('')).toBe(expected);
    expect(mayBeDone(TEXT)).toBe(isPending);
    expect(keys.every((key) => /^[!-~]{1,255}$/.test(key))).toBe(true);
  });

  it('has the same one as another that is still under way', async () => {
    await Promise.all([send(TEXT), send(TEXT)]);
    expect(new Set(keys).size).toBe(1);
  });

  it('of the next visitor is another one', async () => {
    await send(TEXT, LOST);
    forgetPending();
    await send(TEXT);
    expect([new Set(keys).size, mayBeDone(TEXT)]).toEqual([2, false]);
  });
});
