import type { FastifyRequest } from 'fastify';
import type { Caller } from '#kernel/caller.js';
import { AddressBudget } from '#platform/http/access/address-budget.js';
import { OperatorKeys } from '#platform/http/access/secret.js';
import type { RefusingVerdict } from '../../application/limiter.js';
import { EarlyPlanCheck } from './early-plan-check.js';

const CALLER: Caller = {
  accountId: 'acct_1',
  keyId: 'key_1',
  scopes: [],
  epoch: 3,
  suspended: false,
  delivery: 'handler',
};
const VERDICT: RefusingVerdict = {
  kind: 'refused',
  windows: [{ name: 'minute', windowSeconds: 60, limit: 60, remaining: 0, resetsAt: 5_000 }],
  retryInMs: 4_001,
};
const OPERATORS_KEY = 'the-operators-key-of-this-test-only';

describe('EarlyPlanCheck', () => {
  let counted: string[];
  let cached: Caller | null | undefined;
  let verdict: RefusingVerdict | null;
  let check: EarlyPlanCheck;

  beforeEach(() => {
    counted = [];
    cached = null;
    verdict = null;
    check = new EarlyPlanCheck(
      { cached: () => cached },
      { recall: () => verdict },
      new OperatorKeys([
        { name: 'alice', key: `${OPERATORS_KEY}-2` },
        { name: 'bob', key: OPERATORS_KEY },
      ]),
      new AddressBudget('minute', 2, 60),
      (target) => target === '/messages',
      (outcome) => counted.push(outcome),
      (decision) => counted.push(decision),
    );
  });

  const requestOf = (key: string | null = 'slc_key', originalUrl = '/messages') =>
    ({
      ...{ method: 'GET', clientAddress: '192.0.2.1', originalUrl },
      headers: key === null ? {} : { authorization: `Bearer ${key}` },
    }) as FastifyRequest;
  const refusalOf = (...args: Parameters<typeof requestOf>) => {
    const request = requestOf(...args);
    check.recognize(request);
    return check.refusal(request);
  };
  const codeOf = (...args: Parameters<typeof requestOf>) => refusalOf(...args)?.error.code;

  it('refuses a key whose refusal is remembered, and counts it', () => {
    cached = CALLER;
    verdict = VERDICT;
    const refusal = refusalOf();
    expect(refusal).toMatchObject({ caller: CALLER, windows: VERDICT.windows });
    expect(refusal?.error).toMatchObject({ code: 'rate_limit_exceeded', retryAfter: 5 });
    expect(counted).toEqual(['valid', 'refused']);
  });

  it('refuses a key that is banned, and counts it', () => {
    cached = CALLER;
    verdict = { ...VERDICT, kind: 'banned' };
    expect(codeOf()).toBe('api_key_banned');
    expect(counted).toEqual(['valid', 'banned']);
  });

  it('refuses anonymous requests where a key is needed, and everywhere when their budget is used up', () => {
    const codes = [codeOf('wrong', '/docs'), codeOf('wrong'), codeOf(null), codeOf('wrong'), codeOf('wrong', '/docs')];
    expect(codes).toEqual([
      ...[undefined, 'unauthorized', 'unauthorized', 'rate_limit_exceeded', 'rate_limit_exceeded'],
    ]);
    expect(counted).toEqual([
      ...['invalid', 'anonymous_admitted', 'missing', 'anonymous_admitted'],
      ...['invalid', 'anonymous_refused', 'invalid', 'anonymous_refused'],
    ]);
  });

  it.each([
    ['a caller whose plan is not known to be used up', CALLER, 'slc_key', { cachedCaller: CALLER }],
    ['a key that must be looked up', undefined, 'slc_key', { cachedCaller: undefined }],
    ['the operators', null, OPERATORS_KEY, { operator: 'bob' }],
  ])('leaves %s to the guards, uncounted, with what it knows', (_name, known, key, notes) => {
    cached = known;
    const request = requestOf(key);
    expect(check.recognize(request)).toBe(true);
    expect(check.refusal(request)).toBeNull();
    expect(request).toMatchObject({ presentedKey: key, ...notes });
    expect(counted).toEqual([]);
  });

  it.each([null, 'wrong'])('recognizes no key in %s', (key) => {
    cached = null;
    expect(check.recognize(requestOf(key))).toBe(false);
  });
});
