import { ADMIN_API_KEY, asText, kindOf, LimitedApis, onTheWire, shown } from '../../support/limits.js';

const LIMIT = 6_000;

describe('requests of operators', () => {
  let limited: LimitedApis;

  beforeAll(async () => {
    limited = await LimitedApis.start({ ANONYMOUS_PER_MINUTE: '5' });
  });
  afterAll(() => limited.stop());

  it('have a window of their own, which is no address and no account', async () => {
    const first = await limited.operate({ path: '/admin/accounts' });
    const second = await limited.operate({ path: '/unknown' });
    const stranger = await limited.ask(null);

    expect([first, second].map(kindOf)).toEqual(['200', '404 not_found']);
    expect([first, second].map((answer) => shown(answer).remaining)).toEqual([LIMIT - 1, LIMIT - 2]);
    expect(first.headers.get('ratelimit-policy')).toBe('"minute";q=6000;w=60');
    expect(shown(stranger)).toMatchObject({ limit: 5, remaining: 4 });
  });

  it('are refused after 6,000 in a minute', async () => {
    const { remaining } = shown(await limited.operate({ path: '/unknown' }));
    const head = ['HEAD /unknown HTTP/1.1', 'Host: sluice', `Authorization: Bearer ${ADMIN_API_KEY}`];
    const rest = Array.from({ length: remaining }, () => [...head, '']).flat();
    const said = await onTheWire(limited.url(), asText(...rest, ...head, 'Connection: close'));
    const statuses = [...said.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);

    expect(statuses).toEqual([...Array<string>(remaining).fill('404'), '429']);
    expect(said.slice(said.lastIndexOf('HTTP/1.1 429'))).toMatch(/^Retry-After: \d+\r$/im);
  });
});
