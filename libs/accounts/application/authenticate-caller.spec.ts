import { setTimeout as sleep } from 'node:timers/promises';
import { InMemoryAccounts } from '../../../test/contracts/fakes/in-memory-accounts.js';
import { after, SENT_AT, TestClock, unavailable } from '../../../test/support/messages.js';
import { UuidV7Ids } from '#kernel/ids.js';
import { Account } from '../domain/account.js';
import type { ApiKey } from '../domain/api-key.js';
import { AuthenticateCaller } from './authenticate-caller.js';
import { KeySecrets } from './key-secrets.js';
import { LastUsedTracker } from './last-used-tracker.js';
import { SignUp } from './sign-up.js';

const secrets = new KeySecrets('p'.repeat(32));
const TEN_MINUTES_MS = 600_000;

/** An API process with one caller; a second process, if there were one, would share only the accounts. */
async function process(key: Partial<ApiKey> = {}) {
  const accounts = new InMemoryAccounts();
  const clock = new TestClock();
  const { key: presented, hash } = secrets.issue();
  const apiKey: ApiKey = {
    ...{ id: 'key_1', accountId: 'acct_1', name: 'first key', scopes: ['messages:send'] },
    ...{ createdAt: SENT_AT, expiresAt: null, lastUsedAt: null },
    ...key,
  };
  await accounts.add(Account.open('acct_1', 'Acme', SENT_AT), apiKey, hash);
  const findKey = jest.spyOn(accounts, 'findKey');
  const lastUsed = new LastUsedTracker(accounts);
  const authenticate = new AuthenticateCaller(accounts, secrets, clock, lastUsed);
  return { accounts, clock, presented, findKey, lastUsed, authenticate };
}

const unknownKey = () => secrets.issue().key;

describe('AuthenticateCaller', () => {
  let milliseconds = 0;
  /** Lets time pass for the cache, which looks at the clock at most once a real millisecond. */
  const pass = async (ms: number) => {
    milliseconds += ms;
    await sleep(5);
  };

  beforeEach(() => {
    milliseconds = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => milliseconds);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('tells who calls, and as of which epoch', async () => {
    const { accounts, authenticate, presented } = await process();
    accounts.change('acct_1');
    const caller = await authenticate.execute(presented);
    expect(caller).toEqual({ accountId: 'acct_1', keyId: 'key_1', scopes: ['messages:send'], epoch: 1 });
  });

  it('knows the key that a sign-up has just shown', async () => {
    const { accounts, authenticate, clock } = await process();
    const { account, key } = await new SignUp(accounts, secrets, new UuidV7Ids(), clock).execute('Acme');
    const caller = await authenticate.execute(key);
    expect(caller).toMatchObject({
      accountId: account.id,
      scopes: ['messages:send', 'messages:read', 'account:manage'],
    });
  });

  it('refuses what was never issued without asking the store', async () => {
    const { authenticate, presented, findKey } = await process();
    const wrong = presented.endsWith('0') ? '1' : '0';
    for (const other of ['', 'slc_', presented.slice(0, -1) + wrong, new KeySecrets('q'.repeat(32)).issue().key]) {
      expect(await authenticate.execute(other)).toBeNull();
      expect(await authenticate.refresh(other)).toBeNull();
    }
    expect(findKey).not.toHaveBeenCalled();
  });

  it('asks the store once for requests that come together', async () => {
    const { authenticate, presented, findKey } = await process();
    const callers = await Promise.all([
      ...Array.from({ length: 50 }, () => authenticate.execute(presented)),
      ...Array.from({ length: 50 }, () => authenticate.refresh(presented)),
    ]);
    expect(new Set(callers.map((caller) => caller?.keyId))).toEqual(new Set(['key_1']));
    expect(findKey).toHaveBeenCalledTimes(1);
  });

  it('asks for each key by itself', async () => {
    const { authenticate, presented, findKey } = await process();
    const [known, unknown] = await Promise.all([presented, unknownKey()].map((key) => authenticate.execute(key)));
    expect(known).toMatchObject({ keyId: 'key_1' });
    expect(unknown).toBeNull();
    expect(findKey).toHaveBeenCalledTimes(2);
  });

  it('remembers a key for minutes, with the epoch by which others confirm it', async () => {
    const { accounts, authenticate, presented, findKey } = await process();
    await authenticate.execute(presented);
    await accounts.revokeKey('acct_1', 'key_1');
    await pass(TEN_MINUTES_MS);
    expect(await authenticate.execute(presented)).toMatchObject({ keyId: 'key_1', epoch: 0 });
    expect(findKey).toHaveBeenCalledTimes(1);
    await pass(1);
    expect(await authenticate.execute(presented)).toBeNull();
  });

  it('asks the store for a refresh, and remembers what it says', async () => {
    const { accounts, authenticate, presented, findKey } = await process();
    await authenticate.execute(presented);
    accounts.change('acct_1');
    expect(await authenticate.refresh(presented)).toMatchObject({ epoch: 1 });
    expect(await authenticate.execute(presented)).toMatchObject({ epoch: 1 });
    await accounts.revokeKey('acct_1', 'key_1');
    expect(await authenticate.refresh(presented)).toBeNull();
    expect(await authenticate.execute(presented)).toBeNull();
    expect(findKey).toHaveBeenCalledTimes(3);
  });

  it('refreshes by a question of its own when the one under way is old', async () => {
    const { accounts, authenticate, presented, findKey } = await process();
    let restore: () => void = () => undefined;
    const link = new Promise<void>((resolve) => (restore = resolve));
    findKey.mockImplementationOnce(async (hash) => {
      const found = await InMemoryAccounts.prototype.findKey.call(accounts, hash);
      await link;
      return found;
    });
    const hanging = authenticate.execute(presented);
    await pass(1_000);
    await accounts.revokeKey('acct_1', 'key_1');
    const refreshed = authenticate.refresh(presented);
    restore();

    expect(await refreshed).toBeNull();
    expect(await hanging).toMatchObject({ epoch: 0 });
    expect(findKey).toHaveBeenCalledTimes(2);
  });

  it('remembers for less than a second that a key is unknown', async () => {
    const { authenticate, findKey } = await process();
    const unknown = unknownKey();
    for (let request = 0; request < 5; request++) expect(await authenticate.execute(unknown)).toBeNull();
    await pass(500);
    expect(await authenticate.execute(unknown)).toBeNull();
    expect(findKey).toHaveBeenCalledTimes(1);
    await pass(499);
    expect(await authenticate.execute(unknown)).toBeNull();
    expect(findKey).toHaveBeenCalledTimes(2);
  });

  it('counts the age of an answer from the question', async () => {
    const { authenticate, findKey } = await process();
    const unknown = unknownKey();
    findKey.mockImplementationOnce(async () => {
      await pass(800);
      return null;
    });
    await authenticate.execute(unknown);
    await pass(199);
    await authenticate.execute(unknown);
    expect(findKey).toHaveBeenCalledTimes(2);
  });

  it('refuses an expired key from its last moment on, also one that it remembers', async () => {
    const { authenticate, presented, clock } = await process({ expiresAt: after(100) });
    clock.advance(99);
    expect(await authenticate.execute(presented)).toMatchObject({ keyId: 'key_1' });
    clock.advance(1);
    expect(await authenticate.execute(presented)).toBeNull();
    expect(await authenticate.refresh(presented)).toBeNull();
  });

  it('notes when a key was used, unless it has expired', async () => {
    const { accounts, authenticate, presented, clock, lastUsed } = await process({ expiresAt: after(60_000) });
    await authenticate.execute(presented);
    clock.advance(60_000);
    await authenticate.execute(presented);
    await authenticate.execute(unknownKey());
    await lastUsed.flush();
    expect(accounts.uses).toEqual([new Map([['key_1', new Date('2026-11-21T09:30:00.000Z')]])]);
  });

  it('says that the store is away, and remembers nothing of it', async () => {
    const { authenticate, presented, findKey } = await process();
    findKey.mockRejectedValueOnce(unavailable());
    await expect(authenticate.execute(presented)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await authenticate.execute(presented)).toMatchObject({ keyId: 'key_1' });
  });
});
