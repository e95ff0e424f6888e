import { randomBytes } from 'node:crypto';
import type { Accounts } from '#accounts/application/accounts.js';
import { Account } from '#accounts/domain/account.js';
import type { ApiKey } from '#accounts/domain/api-key.js';
import { UuidV7Ids } from '#kernel/ids.js';
import { after, SENT_AT } from '../support/messages.js';

export interface AccountsSubject {
  /** Two processes on the same store. */
  readonly accounts: Accounts;
  readonly other: Accounts;
  has(account: Account): Promise<boolean>;
  revoke(key: ApiKey): Promise<void>;
  close(): Promise<void>;
}

const ids = new UuidV7Ids();

function anAccount(): Account {
  return Account.open(ids.next('acct', SENT_AT), 'Ä & Co. 💌', SENT_AT);
}

function aKey(of: Account, key: Partial<ApiKey> = {}): ApiKey {
  return {
    ...{ id: ids.next('key', SENT_AT), accountId: of.id, name: 'first key', createdAt: SENT_AT, expiresAt: null },
    ...{ scopes: ['messages:send', 'messages:read'] },
    ...key,
  };
}

/** What every store of accounts guarantees. */
export function describeAccounts(name: string, open: () => Promise<AccountsSubject>): void {
  describe(name, () => {
    let subject: AccountsSubject;
    beforeAll(async () => {
      subject = await open();
    });
    afterAll(() => subject.close());

    it.each([null, after(1_000)])('finds a key by its hash, in every process (expires: %s)', async (expiresAt) => {
      const account = anAccount();
      const [key, hash] = [aKey(account, { expiresAt }), randomBytes(32)];
      await subject.accounts.add(account, key, hash);
      expect(await subject.other.findKey(hash)).toEqual(key);
      expect(await subject.has(account)).toBe(true);
    });

    it('finds nothing by another hash', async () => {
      const account = anAccount();
      const hash = randomBytes(32);
      await subject.accounts.add(account, aKey(account), hash);
      for (const other of [randomBytes(32), hash.subarray(1), Buffer.alloc(0)]) {
        expect(await subject.accounts.findKey(other)).toBeNull();
      }
    });

    it('does not find a revoked key, and still the others', async () => {
      const [one, two] = [anAccount(), anAccount()];
      const [key, hash, otherHash] = [aKey(one), randomBytes(32), randomBytes(32)];
      await subject.accounts.add(one, key, hash);
      await subject.accounts.add(two, aKey(two), otherHash);
      await subject.revoke(key);
      expect(await subject.other.findKey(hash)).toBeNull();
      expect(await subject.other.findKey(otherHash)).not.toBeNull();
    });

    it('leaves expiry to the caller', async () => {
      const account = anAccount();
      const [key, hash] = [aKey(account, { expiresAt: new Date(0) }), randomBytes(32)];
      await subject.accounts.add(account, key, hash);
      expect(await subject.accounts.findKey(hash)).toEqual(key);
    });

    it('stores neither the account nor the key when the key can not be stored', async () => {
      const [first, second] = [anAccount(), anAccount()];
      const [key, hash] = [aKey(first), randomBytes(32)];
      await subject.accounts.add(first, key, hash);
      await expect(subject.accounts.add(second, aKey(second), hash)).rejects.toThrow();
      expect(await subject.has(second)).toBe(false);
      expect(await subject.accounts.findKey(hash)).toEqual(key);
    });

    it('stores neither of them when the account can not be stored', async () => {
      const account = anAccount();
      await subject.accounts.add(account, aKey(account), randomBytes(32));
      const hash = randomBytes(32);
      await expect(subject.accounts.add(account, aKey(account), hash)).rejects.toThrow();
      expect(await subject.accounts.findKey(hash)).toBeNull();
    });
  });
}
