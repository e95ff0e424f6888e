import { setTimeout as sleep } from 'node:timers/promises';
import { InMemoryAccounts } from '../../../test/contracts/fakes/in-memory-accounts.js';
import { after, SENT_AT, TestClock, unavailable } from '../../../test/support/messages.js';
import { UuidV7Ids } from '#kernel/ids.js';
import { Account } from '../domain/account.js';
import type { ApiKey } from '../domain/api-key.js';
import { AuthenticateCaller } from './authenticate-caller.js';
import { KeySecrets } from './key-secrets.js';
import { SignUp } from './sign-up.js';

const secrets = new KeySecrets('p'.repeat(32));

/** An API process with one caller; a second process, if there were one, would share only the accounts. */
async function process(key: Partial<ApiKey> = {}) {
  const accounts = new InMemoryAccounts();
  const clock = new TestClock();
  const presented = secrets.issue();
  const apiKey: ApiKey = {
    ...{ id: 'key_1', accountId: 'acct_1', name: 'first key', scopes: ['messages:send'] },
    ...{ createdAt: SENT_AT, expiresAt: null },
    ...key,
  };
  await accounts.add(Account.open('acct_1', 'Acme', SENT_AT), apiKey, secrets.hash(presented) ?? Buffer.alloc(0));
  const findKey = jest.spyOn(accounts, 'findKey');
  return { accounts, clock, presented, findKey, authenticate: new AuthenticateCaller(accounts, secrets, clock) };
}

const unauthorized = { code: 'unauthorized' };

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

  it('tells who calls', async () => {
    const { authenticate, presented } = await process();
    const caller = await authenticate.execute(presented);
    expect(caller).toMatchObject({ accountId: 'acct_1', keyId: 'key_1', scopes: ['messages:send'] });
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
    for (const other of ['', 'slc_', presented.slice(0, -1) + wrong, new KeySecrets('q'.repeat(32)).issue()]) {
      await expect(authenticate.execute(other)).rejects.toMatchObject(unauthorized);
    }
    expect(findKey).not.toHaveBeenCalled();
  });

  it('asks the store once for requests that come together', async () => {
    const { authenticate, presented, findKey } = await process();
    const callers = await Promise.all(Array.from({ length: 50 }, () => authenticate.execute(presented)));
    expect(new Set(callers.map(({ keyId }) => keyId))).toEqual(new Set(['key_1']));
    expect(findKey).toHaveBeenCalledTimes(1);
  });

  it('asks for each key by itself', async () => {
    const { authenticate, presented, findKey } = await process();
    const [known, unknown] = await Promise.allSettled(
      [presented, secrets.issue()].map((key) => authenticate.execute(key)),
    );
    expect(known?.status).toBe('fulfilled');
    expect(unknown).toMatchObject({ status: 'rejected', reason: unauthorized });
    expect(findKey).toHaveBeenCalledTimes(2);
  });

  it('asks again before a second has passed, so that a revoked key fails by then', async () => {
    const { accounts, authenticate, presented, findKey } = await process();
    await authenticate.execute(presented);
    await pass(500);
    await authenticate.execute(presented);
    expect(findKey).toHaveBeenCalledTimes(1);
    accounts.revoke('key_1');
    await pass(499);
    await expect(authenticate.execute(presented)).rejects.toMatchObject(unauthorized);
    expect(findKey).toHaveBeenCalledTimes(2);
  });

  it('counts the age of an answer from the question', async () => {
    const { accounts, authenticate, presented, findKey } = await process();
    const answer = await accounts.findKey(secrets.hash(presented) ?? Buffer.alloc(0));
    findKey.mockClear().mockImplementationOnce(async () => {
      await pass(800);
      return answer;
    });
    await authenticate.execute(presented);
    accounts.revoke('key_1');
    await pass(199);
    await expect(authenticate.execute(presented)).rejects.toMatchObject(unauthorized);
    expect(findKey).toHaveBeenCalledTimes(2);
  });

  it('remembers for a while that a key is unknown', async () => {
    const { authenticate, findKey } = await process();
    const unknown = secrets.issue();
    for (let request = 0; request < 5; request++) {
      await expect(authenticate.execute(unknown)).rejects.toMatchObject(unauthorized);
    }
    expect(findKey).toHaveBeenCalledTimes(1);
    await pass(999);
    await expect(authenticate.execute(unknown)).rejects.toMatchObject(unauthorized);
    expect(findKey).toHaveBeenCalledTimes(2);
  });

  it('refuses an expired key from its last moment on, also one that it remembers', async () => {
    const { authenticate, presented, clock } = await process({ expiresAt: after(100) });
    clock.advance(99);
    await authenticate.execute(presented);
    clock.advance(1);
    await expect(authenticate.execute(presented)).rejects.toMatchObject(unauthorized);
  });

  it('says that the store is away, and remembers nothing of it', async () => {
    const { authenticate, presented, findKey } = await process();
    findKey.mockRejectedValueOnce(unavailable());
    await expect(authenticate.execute(presented)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await authenticate.execute(presented)).toMatchObject({ keyId: 'key_1' });
  });
});
