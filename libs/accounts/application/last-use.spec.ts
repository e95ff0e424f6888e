import { InMemoryAccounts } from '../../../test/contracts/fakes/in-memory-accounts.js';
import { after, unavailable } from '../../../test/support/messages.js';
import { LastUse } from './last-use.js';

const MINUTE = new Date('2026-11-21T09:30:00.000Z');
const NEXT_MINUTE = new Date('2026-11-21T09:31:00.000Z');

describe('LastUse', () => {
  let accounts: InMemoryAccounts;
  let lastUse: LastUse;

  beforeEach(() => {
    accounts = new InMemoryAccounts();
    lastUse = new LastUse(accounts);
  });

  it('writes the minute of each key once, however often it was used', async () => {
    for (let request = 0; request < 50; request++) lastUse.note('key_1', after(request * 1_000, MINUTE));
    lastUse.note('key_2', after(59_999, MINUTE));
    await lastUse.flush();
    lastUse.note('key_1', after(59_999, MINUTE));
    await lastUse.flush();

    expect(accounts.uses).toEqual([
      new Map([
        ['key_1', MINUTE],
        ['key_2', MINUTE],
      ]),
    ]);
  });

  it('writes the next minute when it comes', async () => {
    for (const at of [MINUTE, NEXT_MINUTE]) {
      lastUse.note('key_1', after(1, at));
      await lastUse.flush();
    }
    expect(accounts.uses).toEqual([new Map([['key_1', MINUTE]]), new Map([['key_1', NEXT_MINUTE]])]);
  });

  it('goes on when a write has failed', async () => {
    jest.spyOn(accounts, 'saveLastUses').mockRejectedValueOnce(unavailable());
    lastUse.note('key_1', MINUTE);
    await lastUse.flush();
    lastUse.note('key_1', NEXT_MINUTE);
    await lastUse.flush();
    expect(accounts.uses).toEqual([new Map([['key_1', NEXT_MINUTE]])]);
  });

  it('writes by itself within seconds, and what is left when it closes', async () => {
    jest.useFakeTimers();
    try {
      lastUse.start();
      lastUse.note('key_1', MINUTE);
      await jest.advanceTimersByTimeAsync(5_000);
      expect(accounts.uses).toHaveLength(1);
      lastUse.note('key_1', NEXT_MINUTE);
      await lastUse.close();
      expect(accounts.uses).toHaveLength(2);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
