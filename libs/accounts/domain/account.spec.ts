import { Account, nameFault } from './account.js';

describe('Account', () => {
  it('begins on the free plan', () => {
    const at = new Date('2026-11-21T09:30:00.123Z');
    expect(Account.open('acct_1', 'Acme', at)).toEqual({ id: 'acct_1', name: 'Acme', plan: 'free', createdAt: at });
  });

  it.each(['x', 'Ä & Co. 💌', 'n'.repeat(100)])('may be named %j', (name) => {
    expect(nameFault(name)).toBeNull();
  });

  it.each(['', ' \t\n', 'n'.repeat(101), 'a\u0000b', 'a\ud83d'])('may not be named %j', (name) => {
    expect(nameFault(name)).toMatch(/^name must /);
    expect(() => Account.open('acct_1', name, new Date(0))).toThrow(nameFault(name) ?? '');
  });
});
