import { thrownBy } from '../../../test/support/messages.js';
import { Account, nameError } from './account.js';
import { limitsError, MAX_LIMIT } from './request-limits.js';
import { PLAN_LIMITS } from './plan.js';

const account = Account.open('acct_1', 'Acme', new Date('2026-11-21T09:30:00.123Z'));
const agreed = { perMinute: 5_000, perDay: 6_000 };

describe('Account', () => {
  it('starts on the free plan', () => {
    expect(account).toMatchObject({ plan: 'free', limits: { perMinute: 60, perDay: 1_000 } });
  });

  it.each([
    ['free', { perMinute: 60, perDay: 1_000 }],
    ['pro', { perMinute: 300, perDay: 10_000 }],
    ['business', { perMinute: 1_000, perDay: 100_000 }],
    ['enterprise', { perMinute: 1_000, perDay: 100_000 }],
  ] as const)('takes the limits of the plan %s, and nothing else changes', (plan, limits) => {
    const { id, name, createdAt } = account;
    const expected = { id, name, plan, limits, createdAt, suspended: false, delivery: 'handler', paused: false };
    expect(account.changePlan(plan, null)).toEqual(expected);
  });

  it('is paused until it is unpaused, whether it is suspended or not', () => {
    const paused = account.pause().pause().suspend();
    expect(paused).toMatchObject({ suspended: true, paused: true });
    expect(paused.resume()).toEqual(account.pause());
    expect(paused.unpause()).toEqual(account.suspend());
  });

  it('is suspended until it is resumed, whatever its plan', () => {
    const suspended = account.suspend().suspend().changePlan('pro', null);
    expect(suspended).toMatchObject({ plan: 'pro', suspended: true });
    expect(suspended.resume()).toEqual(account.changePlan('pro', null));
  });

  it('has individual limits only with enterprise, and while it stays there', () => {
    const special = account.changePlan('enterprise', agreed);
    expect(special.limits).toEqual(agreed);
    expect(special.changePlan(null, null)).toEqual(special);
    expect(special.changePlan('enterprise', null)).toEqual(special);
    expect(special.changePlan(null, { ...agreed, perDay: 9 }).limits).toEqual({ ...agreed, perDay: 9 });
    expect(special.changePlan('pro', null).changePlan('enterprise', null).limits).toEqual(PLAN_LIMITS.enterprise);
    for (const plan of ['free', 'pro', 'business', null] as const) {
      expect(thrownBy(() => account.changePlan(plan, agreed))).toMatchObject({ errors: [{ pointer: '/limits' }] });
    }
  });

  it.each(['x', 'Ä & Co. 💌', 'n'.repeat(100), '💌'.repeat(100)])('may be named %j', (name) => {
    expect(nameError(name)).toBeNull();
  });

  it.each(['', ' \t\n', 'n'.repeat(101), '💌'.repeat(101), 'n'.repeat(1_000_000), 'a\u0000b', 'a\ud83d'])(
    'may not be named %j',
    (name) => {
      expect(nameError(name)).toMatch(/^name must /);
      expect(() => Account.open('acct_1', name, new Date(0))).toThrow(nameError(name) ?? '');
    },
  );
});

describe('Limits', () => {
  it.each([
    { perMinute: 1, perDay: 1 },
    { perMinute: MAX_LIMIT, perDay: MAX_LIMIT },
  ])('may be %j', (limits) => {
    expect(limitsError(limits)).toBeNull();
  });

  it.each([
    ...[undefined, null, {}, [], 'many', 1, { perMinute: 1 }, { perDay: 1 }],
    ...[0, -1, 0.5, '1', NaN, Infinity, MAX_LIMIT + 1].flatMap((odd) => [
      { perMinute: odd, perDay: 1 },
      { perMinute: 1, perDay: odd },
    ]),
  ])('may not be %p', (limits) => {
    expect(limitsError(limits)).toMatch(/^limits must contain perMinute and perDay/);
  });
});
