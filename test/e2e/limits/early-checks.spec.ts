import { lines, onTheWire } from '../../support/http.js';
import { kindOf, REFUSED, series } from '../../support/limits.js';
import { sharedApi, type Account } from '../../support/api.js';

describe('A response of the early checks equals that of the guards', () => {
  const api = sharedApi();

  /** A response without its date and its numbers, which change. */
  const receive = async (key: string | null, path: string) => {
    const authorization = key === null ? [] : [`Authorization: Bearer ${key}`];
    const head = [`GET ${path} HTTP/1.1`, 'Host: sluice', 'X-Request-Id: same', 'Connection: close', ...authorization];
    return (await onTheWire(api.url, lines(...head))).replace(/^Date: .*$/m, '').replace(/\d+/g, '0');
  };
  const usedUp = async (): Promise<Account> => {
    const holder = await api.signUp({ perMinute: 1, perDay: 10 });
    await api.ask(holder);
    return holder;
  };

  it('to a key whose plan is used up: the first refusal is from the store, the next from the cache', async () => {
    const { key } = await usedUp();
    const late = await receive(key, '/messages');
    expect(late).toContain('rate_limit_exceeded');
    for (let times = 0; times < 3; times++) expect(await receive(key, '/messages')).toBe(late);
  });

  it.each([
    ['no key', null],
    ['a key that was never issued', `slc_${'0'.repeat(40)}`],
    ['a malformed key', 'wrong'],
  ])('to %s: paths with parameters are checked by the guards only', async (_name, key) => {
    const late = await receive(key, '/messages/msg_01h455vb4pex5vsknk084sn02q');
    expect(late).toContain('unauthorized');
    expect(await receive(key, '/messages')).toBe(late);
  });

  it('and an ambiguous path is refused before the plan', async () => {
    const holder = await usedUp();
    await series(api, holder, 2);

    expect(kindOf(await api.ask(holder, 'GET /messages/%ff%'))).toBe('400 malformed_request');
    expect(kindOf(await api.ask(holder, 'GET /messages/%41'))).toBe(REFUSED);
  });
});
