import type { IncomingMessage } from 'node:http';
import type { Caller } from '#accounts/index.js';
import { AddressBudget } from '#platform/http/address-budget.js';
import { Secret } from '#platform/http/secret.js';
import type { RefusingVerdict } from '../../plan-throttler-storage.js';
import { GateKeeper } from './gate-keeper.js';

const CALLER: Caller = { accountId: 'acct_1', keyId: 'key_1', scopes: [], epoch: 3 };
const VERDICT: RefusingVerdict = {
  kind: 'refused',
  windows: [{ name: 'minute', windowSeconds: 60, limit: 60, remaining: 0, resetsInMs: 5_000 }],
  retryInMs: 4_001,
};
const OPERATORS_KEY = 'the-operators-key-of-this-test-only';

describe('GateKeeper', () => {
  let told: string[];
  let remembered: Caller | null | undefined;
  let verdict: RefusingVerdict | null;
  let keeper: GateKeeper;

  beforeEach(() => {
    told = [];
    remembered = null;
    verdict = null;
    keeper = new GateKeeper({
      authenticate: { cached: () => remembered },
      operatorsKey: new Secret(OPERATORS_KEY),
      storage: { recall: () => verdict },
      strangers: new AddressBudget('minute', 2, 60),
      addressOf: () => '192.0.2.1',
      needsKey: (target, method) => target === '/messages' && method === 'POST',
      authenticated: (outcome) => told.push(outcome),
      decided: (decision) => told.push(decision),
    });
  });

  const ask = (request: Partial<IncomingMessage> = {}, key: string | null = 'slc_key') =>
    keeper.check({
      ...{ method: 'POST', url: '/messages', httpVersion: '1.1', ...request },
      headers: { host: 'sluice', ...(key !== null && { authorization: `Bearer ${key}` }), ...request.headers },
    } as IncomingMessage);

  it('refuses a key whose refusal is remembered, and counts it', () => {
    remembered = CALLER;
    verdict = VERDICT;
    const refusal = ask();
    expect(refusal).toMatchObject({ caller: CALLER, windows: VERDICT.windows });
    expect(refusal?.error).toMatchObject({ code: 'rate_limit_exceeded', retryAfter: 5 });
    expect(told).toEqual(['valid', 'refused']);
  });

  it('refuses a key that is banned', () => {
    remembered = CALLER;
    verdict = { ...VERDICT, kind: 'banned' };
    expect(ask()?.error.code).toBe('api_key_banned');
    expect(told).toEqual(['valid', 'banned']);
  });

  it('refuses strangers where a key is needed, and everywhere when their budget is used up', () => {
    expect(ask({ url: '/docs' })).toBeNull();
    expect(ask()?.error.code).toBe('unauthorized');
    expect(ask({}, null)?.error.code).toBe('unauthorized');
    expect(ask()?.error.code).toBe('rate_limit_exceeded');
    expect(ask({ url: '/docs' })?.error.code).toBe('rate_limit_exceeded');
    expect(told).toEqual([
      ...['invalid', 'stranger_admitted', 'missing', 'stranger_admitted'],
      ...['invalid', 'stranger_refused', 'invalid', 'stranger_refused'],
    ]);
  });

  it('lets pass, uncounted, what it would have to ask for', () => {
    remembered = CALLER;
    expect(ask()).toBeNull();
    remembered = undefined;
    verdict = VERDICT;
    expect(ask()).toBeNull();
    expect(told).toEqual([]);
  });

  it('lets operators pass', () => {
    expect(ask({}, OPERATORS_KEY)).toBeNull();
    expect(told).toEqual([]);
  });

  it.each([
    ['two hosts', { headers: { host: 'a, b' } }],
    ['a target that is no path', { url: 'messages' }],
    ['a path that cannot be decoded', { url: '/messages/%ff' }],
  ])('leaves to others what has %s', (_name, request) => {
    remembered = CALLER;
    verdict = VERDICT;
    expect(ask(request)).toBeNull();
  });
});
