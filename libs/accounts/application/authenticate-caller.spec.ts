import { setTimeout as sleep } from 'node:timers/promises';
import { after, SENT_AT, TestClock, unavailable } from '../../../test/support/messages.js';
import type { ApiKey } from '../domain/api-key.js';
import type { FoundKey } from './accounts.js';
import { AuthenticateCaller } from './authenticate-caller.js';
import { KeySecrets } from './key-secrets.js';
import { LastUsedTracker } from './last-used-tracker.js';

const secrets = new KeySecrets('p'.repeat(32));
const TEN_MINUTES_MS = 600_000;

/** An API process with one account and one key. */
function process(key: Partial<ApiKey> = {}) {
  const clock = new TestClock();
  const { key: presented, hash } = secrets.issue();
  const apiKey: ApiKey = {
    ...{ id: 'key_1', accountId: 'acct_1', name: 'first key', scopes: ['messages:send'] },
    ...{ hint: 'slc_7k2m…x9qa', createdAt: SENT_AT, expiresAt: null, lastUsedAt: null },
    ...key,
  };
  const store: { found: FoundKey | null } = { found: { key: apiKey, epoch: 0, suspended: false, delivery: 'handler' } };
  const findKey = jest.fn((of: Buffer) => Promise.resolve(of.equals(hash) ? store.found : null));
  const saveLastUses = jest.fn((_uses: ReadonlyMap<string, Date>) => Promise.resolve());
  const lastUsed = new LastUsedTracker({ saveLastUses });
  const authenticate = new AuthenticateCaller({ findKey }, secrets, clock, lastUsed);
  const revoke = () => (store.found = null);
  const changeAccount = () => (store.found = { key: apiKey, epoch: 1, suspended: false, delivery: 'handler' });
  return { store, clock, presented, findKey, saveLastUses, lastUsed, authenticate, revoke, changeAccount };
}

const unknownKey = () => secrets.issue().key;

describe('AuthenticateCaller', () => {
  let milliseconds = 0;
  /** Advances the clock of the cache, which reads it at most once a real millisecond. */
  const pass = async (ms: number) => {
    milliseconds += ms;
    await sleep(5);
  };

  beforeEach(() => {
    // Whole: sums of fractions are rounded.
    milliseconds = Math.floor(performance.now());
    jest.spyOn(performance, 'now').mockImplementation(() => milliseconds);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('returns the caller with the epoch of the account', async () => {
    const { authenticate, presented, changeAccount } = process();
    changeAccount();
    const caller = await authenticate.execute(presented);
    expect(caller).toEqual({
      ...{
        accountId: 'acct_1',
        keyId: 'key_1',
        scopes: ['messages:send'],
        epoch: 1,
        suspended: false,
        delivery: 'handler',
      },
    });
  });

  it('rejects a key that was never issued without a query', async () => {
    const { authenticate, presented, findKey } = process();
    const wrong = presented.endsWith('0') ? '1' : '0';
    for (const other of ['', 'slc_', presented.slice(0, -1) + wrong, new KeySecrets('q'.repeat(32)).issue().key]) {
      expect(await authenticate.execute(other)).toBeNull();
      expect(await authenticate.refresh(other)).toBeNull();
    }
    expect(findKey).not.toHaveBeenCalled();
  });

  it('sends one query for concurrent requests with the same key', async () => {
    const { authenticate, presented, findKey } = process();
    const unknown = authenticate.execute(unknownKey());
    const callers = await Promise.all([
      ...Array.from({ length: 50 }, () => authenticate.execute(presented)),
      ...Array.from({ length: 50 }, () => authenticate.refresh(presented)),
    ]);
    expect(new Set(callers.map((caller) => caller?.keyId))).toEqual(new Set(['key_1']));
    expect(await unknown).toBeNull();
    expect(findKey).toHaveBeenCalledTimes(2);
  });

  it('caches a known key for minutes, with its epoch', async () => {
    const { authenticate, presented, findKey, revoke } = process();
    await authenticate.execute(presented);
    revoke();
    await pass(TEN_MINUTES_MS);
    expect(await authenticate.execute(presented)).toMatchObject({ keyId: 'key_1', epoch: 0 });
    expect(findKey).toHaveBeenCalledTimes(1);
    await pass(1);
    expect(await authenticate.execute(presented)).toBeNull();
  });

  it('refreshes from the store, and caches the result', async () => {
    const { authenticate, presented, findKey, revoke, changeAccount } = process();
    await authenticate.execute(presented);
    changeAccount();
    expect(await authenticate.refresh(presented)).toMatchObject({ epoch: 1 });
    expect(await authenticate.execute(presented)).toMatchObject({ epoch: 1 });
    revoke();
    expect(await authenticate.refresh(presented)).toBeNull();
    expect(await authenticate.execute(presented)).toBeNull();
    expect(findKey).toHaveBeenCalledTimes(3);
  });

  it('refreshes with a query of its own when the one in progress is old', async () => {
    const { store, authenticate, presented, findKey, revoke } = process();
    let restore: (found: FoundKey | null) => void = () => undefined;
    findKey.mockReturnValueOnce(new Promise((resolve) => (restore = resolve)));
    const before = store.found;
    const hanging = authenticate.execute(presented);
    await pass(1_000);
    revoke();
    const refreshed = authenticate.refresh(presented);
    restore(before);

    expect(await refreshed).toBeNull();
    expect(await hanging).toMatchObject({ epoch: 0 });
    expect(findKey).toHaveBeenCalledTimes(2);
  });

  it('caches for less than a second that a key is unknown, counted from the start of the query', async () => {
    const { authenticate, findKey } = process();
    const unknown = unknownKey();
    findKey.mockImplementationOnce(async () => {
      await pass(800);
      return null;
    });
    await authenticate.execute(unknown);
    await pass(99);
    expect(await authenticate.execute(unknown)).toBeNull();
    expect(findKey).toHaveBeenCalledTimes(1);
    await pass(100);
    expect(await authenticate.execute(unknown)).toBeNull();
    expect(findKey).toHaveBeenCalledTimes(2);
  });

  it('rejects an expired key from its last moment on, also one in the cache', async () => {
    const { authenticate, presented, clock } = process({ expiresAt: after(100) });
    clock.advance(99);
    expect(await authenticate.execute(presented)).toMatchObject({ keyId: 'key_1' });
    clock.advance(1);
    expect(await authenticate.execute(presented)).toBeNull();
    expect(await authenticate.refresh(presented)).toBeNull();
  });

  it('records the use of a valid key, once a minute', async () => {
    const { authenticate, presented, clock, saveLastUses, lastUsed } = process({ expiresAt: after(90_000) });
    for (const ms of [1, 59_998, 1, 29_999, 1]) {
      await authenticate.execute(presented);
      await authenticate.refresh(presented);
      await lastUsed.flush();
      clock.advance(ms);
    }
    await authenticate.execute(presented);
    await authenticate.execute(unknownKey());
    await lastUsed.flush();
    expect(saveLastUses.mock.calls).toEqual(
      ['2026-11-21T09:30:00.000Z', '2026-11-21T09:31:00.000Z'].map((at) => [new Map([['key_1', new Date(at)]])]),
    );
  });

  it('is unavailable with the store, and caches nothing of it', async () => {
    const { authenticate, presented, findKey } = process();
    findKey.mockRejectedValueOnce(unavailable());
    await expect(authenticate.execute(presented)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await authenticate.execute(presented)).toMatchObject({ keyId: 'key_1' });
  });
});
