import { Context } from './context.js';

describe('A client of the command line', () => {
  let now = 0;
  let err = '';
  beforeEach(() => {
    err = '';
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
    // The least wait before the next try.
    jest.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterEach(() => jest.restoreAllMocks());

  const fails = (code: string) => () => Promise.reject(new TypeError('fetch failed', { cause: { code } }));
  const answers = (status: number) => () => Promise.resolve(new Response('', { status }));
  const hangs = () => new Promise<Response>(() => undefined);

  it.each([
    ['no response', 30_000, hangs, 'had no complete response'],
    ['no connection', 10_000, fails('UND_ERR_CONNECT_TIMEOUT'), 'cannot be reached from here.'],
    ['a proxy that got no response', 20_000, answers(504), 'has the status 504'],
    ['a closed connection', 20_000, fails('UND_ERR_SOCKET'), 'The connection was closed'],
    ['a refused connection', 10, fails('ECONNREFUSED'), null],
    ['a failure at once', 10, answers(502), null],
  ])('says why nothing has happened for a while: %s', async (_what, tookMs, answer, said) => {
    const client = new Context(() => ({})).clientWith('slc_x', {
      timeoutMs: 1,
      fetch: () => {
        now += tookMs;
        return answer();
      },
    });
    await expect(client.account.get()).rejects.toThrow();
    expect(err.match(/Trying again in \d s …\n/g)?.length ?? 0).toBe(said === null ? 0 : 2);
    expect(err).toContain(said ?? '');
  });
});
