import { onTheWire } from '../../support/http.js';
import { kindOf, REFUSED, series } from '../../support/limits.js';
import { sharedApi, type Account } from '../../support/api.js';

describe('what is refused at the gate is answered as it would be behind it', () => {
  const api = sharedApi();

  /** An answer byte for byte, but for the numbers, which are of the moment. */
  const said = async (key: string | null, path: string) => {
    const authorization = key === null ? '' : `Authorization: Bearer ${key}\r\n`;
    const head = `GET ${path} HTTP/1.1\r\nHost: sluice\r\n${authorization}X-Request-Id: same\r\nConnection: close\r\n\r\n`;
    return (await onTheWire(api.url, head)).replace(/^Date: .*$/m, '').replace(/\d+/g, '0');
  };
  const usedUp = async (): Promise<Account> => {
    const holder = await api.signUp({ perMinute: 1, perDay: 10 });
    await api.ask(holder);
    return holder;
  };

  it('to a key whose plan is used up: the first refusal comes from the store, the next from memory', async () => {
    const { key } = await usedUp();
    const behind = await said(key, '/messages');
    expect(behind).toContain('rate_limit_exceeded');
    for (let times = 0; times < 3; times++) expect(await said(key, '/messages')).toBe(behind);
  });

  it.each([
    ['no key', null],
    ['a key that nobody issued', `slc_${'0'.repeat(40)}`],
    ['what is no key', 'wrong'],
  ])('to %s: a path of a kind is known behind the gate only', async (_name, key) => {
    const behind = await said(key, '/messages/msg_01h455vb4pex5vsknk084sn02q');
    expect(behind).toContain('unauthorized');
    expect(await said(key, '/messages')).toBe(behind);
  });

  it('and what could be read in two ways is refused for that first', async () => {
    const holder = await usedUp();
    await series(api, holder, 2);

    expect(kindOf(await api.ask(holder, 'GET /messages/%ff%'))).toBe('400 malformed_request');
    expect(kindOf(await api.ask(holder, 'GET /messages/%41'))).toBe(REFUSED);
  });
});
