import { lines, onTheWire } from '../../support/http.js';
import { kindOf, shown } from '../../support/limits.js';
import { OPERATOR, ownApi } from '../../support/api.js';

const LIMIT = 6_000;

describe('requests of operators', () => {
  const api = ownApi({ ANONYMOUS_PER_MINUTE: '5' });

  it('have a window of their own, which is no address and no account', async () => {
    const first = await api.ask(OPERATOR, 'GET /admin/accounts');
    const second = await api.ask(OPERATOR, 'GET /unknown');
    const stranger = await api.ask(null);

    expect([first, second].map(kindOf)).toEqual(['200', '404 not_found']);
    expect([first, second].map((answer) => shown(answer).remaining)).toEqual([LIMIT - 1, LIMIT - 2]);
    expect(first.headers['ratelimit-policy']).toBe('"minute";q=6000;w=60');
    expect(shown(stranger)).toMatchObject({ limit: 5, remaining: 4 });
  });

  it('are refused after 6,000 in a minute', async () => {
    const { remaining } = shown(await api.ask(OPERATOR, 'GET /unknown'));
    const head = ['HEAD /unknown HTTP/1.1', 'Host: sluice', `Authorization: Bearer ${OPERATOR.key}`];
    const rest = Array.from({ length: remaining }, () => [...head, '']).flat();
    const said = await onTheWire(api.url, lines(...rest, ...head, 'Connection: close'));
    const statuses = [...said.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);

    expect(statuses).toEqual([...Array<string>(remaining).fill('404'), '429']);
    expect(said.slice(said.lastIndexOf('HTTP/1.1 429'))).toMatch(/^Retry-After: \d+\r$/im);
  });
});
