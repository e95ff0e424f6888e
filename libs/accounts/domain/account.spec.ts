import { thrownBy } from '../../../test/support/messages.js';
import { ENTERPRISE, FREE, PRO } from '../../../test/support/plans.js';
import { Account, nameError } from './account.js';
import { limitsError, MAX_LIMIT } from './request-limits.js';

const account = Account.open('acct_1', 'Acme', FREE, new Date('2026-11-21T09:30:00.123Z'));
const agreed = { perMinute: 5_000, perDay: 6_000 };

describe('Account', () => {
  it('starts on the plan of new accounts', () => {
    expect(account).toMatchObject({ plan: 'free', limits: { perMinute: 60, perDay: 1_000 } });
  });

  it.each([FREE, PRO, ENTERPRISE])('takes the limits of the plan $name, and nothing else changes', (plan) => {
    const { id, createdAt } = account;
    const changed = new Account(id, 'Acme', plan.name, plan.initialLimits, createdAt);
    expect(account.changePlan(plan, null)).toEqual(changed);
  });

  it('is suspended until it is resumed, whatever its plan', () => {
    const suspended = account.suspend().suspend().changePlan(PRO, null);
    expect(suspended).toMatchObject({ plan: 'pro', suspended: true });
    expect(suspended.resume()).toEqual(account.changePlan(PRO, null));
  });

  it('has limits of its own only with a plan without limits, and while it stays there', () => {
    const special = account.changePlan(ENTERPRISE, agreed);
    expect(special.limits).toEqual(agreed);
    expect(special.changePlan(ENTERPRISE, null)).toEqual(special);
    expect(special.changePlan(ENTERPRISE, { ...agreed, perDay: 9 }).limits).toEqual({ ...agreed, perDay: 9 });
    for (const other of [PRO, { ...ENTERPRISE, name: 'other' }]) {
      const back = special.changePlan(other, null).changePlan(ENTERPRISE, null);
      expect(back.limits).toEqual(ENTERPRISE.initialLimits);
    }
    for (const plan of [FREE, PRO]) {
      expect(thrownBy(() => account.changePlan(plan, agreed))).toMatchObject({ errors: [{ pointer: '/limits' }] });
    }
  });

  it('has the limits of its plan once that has some, and those that were agreed when it has none again', () => {
    const special = account.changePlan(ENTERPRISE, agreed);
    const limited = special.changePlan({ ...ENTERPRISE, limits: PRO.limits }, null);
    expect(limited.limits).toEqual(PRO.limits);
    expect(limited.changePlan(ENTERPRISE, null)).toEqual(special);
  });

  it.each(['x', 'Ä & Co. 💌', 'n'.repeat(100), '💌'.repeat(100)])('may be named %j', (name) => {
    expect(nameError(name)).toBeNull();
  });

  it.each(['', ' \t\n', 'n'.repeat(101), '💌'.repeat(101), 'n'.repeat(1_000_000), 'a\u0000b', 'a\ud83d'])(
    'may not be named %j',
    (name) => {
      expect(nameError(name)).toMatch(/^name must /);
      expect(() => Account.open('acct_1', name, FREE, new Date(0))).toThrow(nameError(name) ?? '');
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
