import { InMemoryAccounts } from '../../../test/contracts/fakes/in-memory-accounts.js';
import { after, unavailable } from '../../../test/support/messages.js';
import { LastUsedTracker } from './last-used-tracker.js';

const MINUTE = new Date('2026-11-21T09:30:00.000Z');
const NEXT_MINUTE = new Date('2026-11-21T09:31:00.000Z');

describe('LastUsedTracker', () => {
  let accounts: InMemoryAccounts;
  let lastUsed: LastUsedTracker;

  beforeEach(() => {
    accounts = new InMemoryAccounts();
    lastUsed = new LastUsedTracker(accounts);
  });

  it('writes the minute of each key once, however often it was used', async () => {
    for (let request = 0; request < 50; request++) lastUsed.record('key_1', after(request * 1_000, MINUTE));
    lastUsed.record('key_2', after(59_999, MINUTE));
    await lastUsed.flush();
    lastUsed.record('key_1', after(59_999, MINUTE));
    await lastUsed.flush();

    expect(accounts.uses).toEqual([
      new Map([
        ['key_1', MINUTE],
        ['key_2', MINUTE],
      ]),
    ]);
  });

  it('writes the next minute when it comes', async () => {
    for (const at of [MINUTE, NEXT_MINUTE]) {
      lastUsed.record('key_1', after(1, at));
      await lastUsed.flush();
    }
    expect(accounts.uses).toEqual([new Map([['key_1', MINUTE]]), new Map([['key_1', NEXT_MINUTE]])]);
  });

  it('goes on when a write has failed', async () => {
    jest.spyOn(accounts, 'saveLastUses').mockRejectedValueOnce(unavailable());
    lastUsed.record('key_1', MINUTE);
    await lastUsed.flush();
    lastUsed.record('key_1', NEXT_MINUTE);
    await lastUsed.flush();
    expect(accounts.uses).toEqual([new Map([['key_1', NEXT_MINUTE]])]);
  });

  it('writes by itself within seconds, and what is left when it closes', async () => {
    jest.useFakeTimers();
    try {
      lastUsed.start();
      lastUsed.record('key_1', MINUTE);
      await jest.advanceTimersByTimeAsync(5_000);
      expect(accounts.uses).toHaveLength(1);
      lastUsed.record('key_1', NEXT_MINUTE);
      await lastUsed.close();
      expect(accounts.uses).toHaveLength(2);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
