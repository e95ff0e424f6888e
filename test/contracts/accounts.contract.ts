import { randomBytes } from 'node:crypto';
import type { Accounts } from '#accounts/application/accounts.js';
import { Account } from '#accounts/domain/account.js';
import { MAX_KEYS, type ApiKey } from '#accounts/domain/api-key.js';
import { UuidV7Ids } from '#kernel/ids.js';
import { after, SENT_AT } from '../support/messages.js';
import { ENTERPRISE, FREE, PRO } from '../support/plans.js';

interface AccountsSubject {
  readonly accounts: Accounts;
  close(): Promise<void>;
}

const ids = new UuidV7Ids();
export const aHash = () => randomBytes(32);

export function aKey(accountId: string): ApiKey {
  return {
    ...{ id: ids.next('key', SENT_AT), accountId, name: 'key', scopes: ['messages:send'] },
    ...{ hint: 'slc_7k2m…x9qa', createdAt: SENT_AT, expiresAt: null, lastUsedAt: null },
  };
}

export function anAccount(name = 'Acme'): Account {
  return Account.open(ids.next('acct', SENT_AT), name, FREE, SENT_AT);
}

/** The guarantees of every store of accounts. */
export function describeAccounts(name: string, open: () => Promise<AccountsSubject>): void {
  describe(name, () => {
    let subject: AccountsSubject;
    let accounts: Accounts;
    let account: Account;
    let key: ApiKey;
    let hash: Buffer;
    /** Of a key that no test changes. */
    let watched: Buffer;

    beforeAll(async () => {
      subject = await open();
      accounts = subject.accounts;
    });
    afterAll(() => subject.close());
    beforeEach(async () => {
      account = anAccount();
      [key, hash, watched] = [aKey(account.id), aHash(), aHash()];
      await accounts.add(account, key, hash);
      await accounts.addKey(aKey(account.id), watched);
    });

    const epoch = async (of = watched) => (await accounts.findKey(of))?.epoch;
    const lastUse = async () => (await accounts.findKey(hash))?.key.lastUsedAt;
    const replace = (endsAt: Date, newHash = aHash()) =>
      accounts.replaceKey(account.id, key.id, SENT_AT, endsAt, newHash, (old) => ({ ...old, id: aKey(account.id).id }));

    it('returns accounts and keys as they were added, also to concurrent lookups', async () => {
      expect(await accounts.find(account.id, 'account')).toEqual(account);
      const found = await Promise.all([watched, aHash(), hash, watched, hash].map((of) => accounts.findKey(of)));
      const second = found[0]?.key.id;
      expect(second).not.toBe(key.id);
      expect(found.map((one) => one?.key.id)).toEqual([second, undefined, key.id, second, key.id]);
      expect(found[2]).toEqual({ key, epoch: 0, suspended: false, delivery: 'handler' });
      expect(found[1]).toBeNull();
    });

    it('adds an account and its key, or neither', async () => {
      const second = anAccount('Second');
      await expect(accounts.add(second, aKey(second.id), hash)).rejects.toThrow('duplicate key');
      expect(await accounts.find(second.id, 'account')).toBeNull();
    });

    const changes: [string, () => Promise<unknown>][] = [
      ['the plan changes', () => accounts.update(account.id, (it) => it.changePlan(PRO, null), 'account')],
      ['it is suspended', () => accounts.update(account.id, (it) => it.suspend(), 'account')],
      ['a key is revoked', () => accounts.revokeKey(account.id, key.id, SENT_AT, 'account')],
      ['a key is replaced', () => replace(SENT_AT)],
      ['a key is replaced with a grace', () => replace(after(60_000))],
    ];

    it.each(changes)('moves the epoch of the account, and of no other, when %s', async (_name, change) => {
      const other = anAccount('Other');
      const otherHash = aHash();
      await accounts.add(other, aKey(other.id), otherHash);
      await change();
      expect(await epoch()).toBeGreaterThan(0);
      expect(await epoch(otherHash)).toBe(0);
    });

    it('finds the keys of a suspended account as such', async () => {
      await accounts.update(account.id, (it) => it.suspend(), 'account');
      expect(await accounts.findKey(hash)).toMatchObject({ key, suspended: true });
      expect(await accounts.find(account.id, 'account')).toMatchObject({ suspended: true });
      await accounts.update(account.id, (it) => it.resume(), 'account');
      expect(await accounts.findKey(hash)).toMatchObject({ key, suspended: false });
    });

    it('keeps the epoch when no existing key changes', async () => {
      await accounts.addKey(aKey(account.id), aHash());
      await accounts.saveLastUses(new Map([[key.id, SENT_AT]]));
      await accounts.revokeKey(account.id, aKey(account.id).id, SENT_AT, 'account');
      await expect(
        accounts.replaceKey(account.id, key.id, SENT_AT, SENT_AT, aHash(), () => {
          throw new Error('not this one');
        }),
      ).rejects.toThrow('not this one');

      expect(await epoch()).toBe(0);
      expect(await accounts.findKey(hash)).toMatchObject({ key: { id: key.id, expiresAt: null } });
    });

    it('keeps the limits that were agreed with one account apart from those of others', async () => {
      const limits = { perMinute: 7, perDay: 70 };
      await accounts.update(account.id, (it) => it.changePlan(ENTERPRISE, limits), 'operator');
      expect((await accounts.find(account.id, 'operator'))?.limits).toEqual(limits);
      const other = anAccount('Other');
      await accounts.add(other, aKey(other.id), aHash());
      await accounts.update(other.id, (it) => it.changePlan(ENTERPRISE, null), 'operator');
      expect((await accounts.find(other.id, 'operator'))?.limits).toEqual(ENTERPRISE.initialLimits);
      expect(anAccount().changePlan(ENTERPRISE, null).limits).toEqual(ENTERPRISE.initialLimits);
    });

    it('applies concurrent changes of an account one after the other', async () => {
      const enterprise = account.changePlan(ENTERPRISE, { perMinute: 1, perDay: 1 });
      await accounts.update(account.id, () => enterprise, 'account');
      const addOne = () =>
        accounts.update(
          account.id,
          (it) => it.changePlan(ENTERPRISE, { perMinute: it.limits.perMinute + 1, perDay: it.limits.perDay + 1 }),
          'account',
        );
      const results = await Promise.all(Array.from({ length: 10 }, addOne));

      expect(results.map((it) => it?.limits.perMinute).sort((one, other) => Number(one) - Number(other))).toEqual(
        Array.from({ length: 10 }, (_, index) => index + 2),
      );
      expect((await accounts.find(account.id, 'account'))?.limits).toEqual({ perMinute: 11, perDay: 11 });
    });

    it('keeps an account whose change throws, and finds none to change otherwise', async () => {
      const limits = { perMinute: 1, perDay: 1 };
      await expect(accounts.update(account.id, (it) => it.changePlan(FREE, limits), 'account')).rejects.toThrow(
        'only with',
      );
      expect(await accounts.find(account.id, 'account')).toEqual(account);
      expect(await accounts.update(ids.next('acct', SENT_AT), (it) => it, 'account')).toBeNull();
      expect(await accounts.update('nonsense', (it) => it, 'account')).toBeNull();
    });

    it('stores the latest use of each key', async () => {
      expect(await lastUse()).toBeNull();
      for (const [ms, latest] of [0, -60_000, 60_000].map((ms) => [ms, Math.max(0, ms)] as const)) {
        await accounts.saveLastUses(new Map(['key_unknown', key.id].map((id) => [id, after(ms)])));
        expect(await lastUse()).toEqual(after(latest));
      }
    });

    it('lists accounts and keys, newest first, page by page', async () => {
      const others = [anAccount('B'), anAccount('C')];
      for (const other of others) await accounts.add(other, aKey(other.id), aHash());
      const all = (await accounts.list({ limit: 1_000, before: null, onlySuspended: false })).map(({ id }) => id);
      expect(all).toEqual([...all].sort().reverse());
      for (const { id } of [account, ...others]) expect(all).toContain(id);
      const page = await accounts.list({ limit: 2, before: all[0] ?? '', onlySuspended: false });
      expect(page.map(({ id }) => id)).toEqual(all.slice(1, 3));
      for (const { id } of [account, ...others.slice(1)]) await accounts.update(id, (it) => it.suspend(), 'account');
      const suspended = (await accounts.list({ limit: 1_000, before: null, onlySuspended: true })).map(({ id }) => id);
      const left = others[0]?.id ?? '';
      expect(suspended).toEqual(all.filter((id) => suspended.includes(id) && id !== left));
      for (const { id } of [account, ...others.slice(1)]) expect(suspended).toContain(id);
      const second = await accounts.list({ limit: 1, before: suspended[0] ?? '', onlySuspended: true });
      expect(second.map(({ id }) => id)).toEqual(suspended.slice(1, 2));
      const keys = await accounts.listKeys(account.id, { limit: 10, before: null }, 'account');
      expect(keys).toEqual(keys.toSorted((one, other) => (one.id < other.id ? 1 : -1)));
      expect(keys).toContainEqual(key);
      expect(await accounts.listKeys(account.id, { limit: 10, before: keys[0]?.id ?? '' }, 'account')).toEqual(
        keys.slice(1),
      );
    });

    it('stores at most MAX_KEYS live keys of an account', async () => {
      const added = [];
      for (let count = 2; count < MAX_KEYS; count++) added.push(await accounts.addKey(aKey(account.id), aHash()));
      expect(new Set(added)).toEqual(new Set([true]));
      expect(await accounts.addKey(aKey(account.id), aHash())).toBe(false);
      expect(await replace(after(60_000))).toBe(false);
      expect(await replace(SENT_AT)).toMatchObject({ name: 'key' });
      await accounts.revokeKey(account.id, (await accounts.findKey(watched))?.key.id ?? '', SENT_AT, 'account');
      expect(await accounts.addKey(aKey(account.id), aHash())).toBe(true);
    });

    it('ends a replaced key after its grace, also when it would have expired later', async () => {
      const hashed = aHash();
      const expiring = { ...aKey(account.id), expiresAt: after(3_600_000) };
      await accounts.addKey(expiring, hashed);
      const next = aKey(account.id);
      await accounts.replaceKey(account.id, expiring.id, SENT_AT, after(60_000), aHash(), () => next);
      expect((await accounts.findKey(hashed))?.key.expiresAt).toEqual(after(60_000));
    });

    it('replaces a key, at once or after a grace', async () => {
      const successor = aHash();
      const next = await replace(after(60_000), successor);
      expect((await accounts.findKey(hash))?.key).toEqual({ ...key, expiresAt: after(60_000) });
      expect((await accounts.findKey(successor))?.key).toEqual(next);
      // A later end does not replace an earlier one.
      await replace(after(120_000));
      expect((await accounts.findKey(hash))?.key.expiresAt).toEqual(after(60_000));
      await replace(SENT_AT);
      expect(await accounts.findKey(hash)).toBeNull();
      expect(await replace(SENT_AT)).toBeNull();
      expect(await accounts.revokeKey(account.id, key.id, SENT_AT, 'account')).toBe(false);
    });
  });
}
