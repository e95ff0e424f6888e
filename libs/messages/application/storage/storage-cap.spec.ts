import { InMemoryStorageLedger } from '../../../../test/contracts/fakes/in-memory-storage-ledger.js';
import { after, aMessage, anAccountId, messages, SENT_AT, textOf } from '../../../../test/support/messages.js';
import { Message } from '../../domain/message.js';
import { SpaceWatch } from './space-watch.js';
import { StorageCap } from './storage-cap.js';

const DAY_MS = 86_400_000;
/** A mebibyte is four texts of the largest size and no fifth. */
const LARGE = 256 * 1_024;

describe('StorageCap', () => {
  let ledger: InMemoryStorageLedger;
  let accountId: string;
  let failures: unknown[];
  let refusals: number;
  beforeEach(() => {
    ledger = new InMemoryStorageLedger();
    accountId = anAccountId();
    failures = [];
    refusals = 0;
  });

  const failed = (error: unknown) => failures.push(error);
  const aSpace = () =>
    new SpaceWatch({ left: () => Promise.resolve(0) }, { watch: () => undefined, changed: () => undefined, failed });
  const aCap = (perAccount = 1, free = 0, space = aSpace()) =>
    new StorageCap(ledger, { byPlan: new Map([['free', free]]), perAccount }, space, {
      refused: () => refusals++,
      failed,
    });
  const large = (count: number, createdAt = SENT_AT) => messages(count, { accountId, createdAt, text: textOf(LARGE) });
  const refuses = (cap: StorageCap, account = accountId) => {
    if (cap.hasRoom(account)) return false;
    expect(() => {
      cap.requireRoom(account);
    }).toThrow(expect.objectContaining({ code: 'storage_full' }) as Error);
    return true;
  };
  const removeOldest = () => ledger.days.delete([...ledger.days.keys()][0] ?? '');
  const rounds = async (cap: StorageCap, count: number) => {
    for (let round = 0; round < count; round++) await cap.run();
  };

  it('counts text in bytes and what goes with it, by the day in UTC', async () => {
    const cap = aCap();
    cap.count([aMessage({ accountId, text: 'ä' }), aMessage({ accountId, text: 'x' })]);
    cap.count([aMessage({ accountId, createdAt: after(DAY_MS) })]);
    await cap.run();
    const day = Math.floor(SENT_AT.getTime() / DAY_MS);
    expect([...ledger.days.values()]).toEqual([
      { accountId, day, bytes: 515, messages: 2 },
      { accountId, day: day + 1, bytes: 261, messages: 1 },
    ]);
  });

  it.each([
    [1, '1 MiB'],
    [2_000 / 1_048_576, '2,000 bytes'],
  ])('states the limit that is reached: %d MiB', async (perAccount, limit) => {
    const cap = aCap(perAccount);
    cap.count(large(4));
    await cap.run();
    expect(() => {
      cap.requireRoom(accountId);
    }).toThrow(`The account has reached its limit of ${limit}. Older`);
  });

  it('counts the deliveries of messages to endpoints', async () => {
    const cap = aCap();
    cap.count([aMessage({ accountId, text: 'x' }), aMessage({ accountId, text: 'x' })], 100);
    await cap.run();
    expect([...ledger.days.values()]).toMatchObject([{ bytes: 2 * (257 + 50 * 1_024), messages: 2 }]);
  });

  it('counts deliveries that are added later, and refuses them when the account is full', async () => {
    const cap = aCap();
    cap.countDeliveries(accountId, 1_023, SENT_AT);
    await cap.run();
    expect([...ledger.days.values()]).toMatchObject([{ bytes: 1_023 * 1_024, messages: 0 }]);
    expect(() => {
      cap.requireRoom(accountId);
    }).not.toThrow();
    cap.countDeliveries(accountId, 1, SENT_AT);
    await cap.run();
    expect(() => {
      cap.requireRoom(accountId);
    }).toThrow('reached its limit');
  });

  it('refuses an account from the round on in which it has as much as it may, and no other', async () => {
    const cap = aCap();
    cap.count(large(3));
    await cap.run();
    expect(refuses(cap)).toBe(false);
    cap.count(large(1));
    expect(refuses(cap)).toBe(false);
    await cap.run();
    expect(refuses(cap)).toBe(true);
    expect(refuses(cap, anAccountId())).toBe(false);
    expect(refusals).toBe(1);
  });

  it('counts what other processes and other days have stored', async () => {
    const [cap, other] = [aCap(), aCap()];
    other.count(large(2, after(-DAY_MS)));
    other.count(large(1));
    await other.run();
    cap.count(large(1));
    await cap.run();
    expect([refuses(cap), refuses(other)]).toEqual([true, false]);
    other.count([aMessage({ accountId })]);
    await other.run();
    expect(refuses(other)).toBe(true);
  });

  it('asks for the total of an account once a day as long as it can not be full', async () => {
    const totals = jest.spyOn(ledger, 'totals');
    const cap = aCap();
    for (let round = 0; round < 10; round++) {
      cap.count([aMessage({ accountId })]);
      await cap.run();
    }
    expect(totals).toHaveBeenCalledTimes(1);
    cap.count([aMessage({ accountId, createdAt: after(DAY_MS) })]);
    await cap.run();
    expect(totals).toHaveBeenCalledTimes(2);
    await rounds(cap, 10);
    expect(totals).toHaveBeenCalledTimes(2);
  });

  it('admits an account again within four rounds after old messages were removed', async () => {
    const cap = aCap();
    cap.count(large(2, after(-DAY_MS)));
    cap.count(large(2));
    await rounds(cap, 9);
    expect(refuses(cap)).toBe(true);
    removeOldest();
    await rounds(cap, 4);
    expect(refuses(cap)).toBe(false);
  });

  it('decides by what is stored, not by what was removed meanwhile', async () => {
    const cap = aCap();
    cap.count(large(2, after(-DAY_MS)));
    cap.count(large(1));
    await cap.run();
    removeOldest();
    cap.count(large(2));
    await cap.run();
    expect(refuses(cap)).toBe(false);
  });

  it('keeps what it could not write, and reports the failure', async () => {
    const cap = aCap();
    ledger.away = true;
    for (let round = 0; round < 2; round++) {
      cap.count(large(2));
      await cap.run();
    }
    expect(failures).toHaveLength(2);
    ledger.away = false;
    await cap.run();
    expect(refuses(cap)).toBe(true);
    expect([...ledger.days.values()]).toMatchObject([{ messages: 4 }]);
  });

  it('keeps it for so many accounts only as fit into memory', async () => {
    const cap = aCap();
    ledger.away = true;
    const { state } = aMessage();
    for (let account = 0; account < 100_010; account++) {
      cap.count([Message.restore({ ...state, accountId: `acct_${account}` })]);
    }
    ledger.away = false;
    await cap.finish();
    expect(ledger.days.size).toBe(100_000);
  });

  it('writes what is left when the process stops', async () => {
    const cap = aCap();
    cap.count(large(1));
    await cap.finish();
    expect(ledger.days.size).toBe(1);
    ledger.away = true;
    cap.count(large(1));
    await cap.finish();
    expect(failures).toHaveLength(1);
  });

  it('refuses every account while the store has too little space, a full one by its cap', async () => {
    const space = aSpace();
    const cap = aCap(1, 0, space);
    cap.count(large(4));
    await cap.run();
    space.left = -1;
    expect(refuses(cap)).toBe(true);
    const other = anAccountId();
    expect(cap.hasRoom(other)).toBe(false);
    expect(() => {
      cap.requireRoom(other);
    }).toThrow(expect.objectContaining({ code: 'unavailable', retryAfter: 30 }) as Error);
  });

  it('refuses an account by its plan, also after the plan has changed', async () => {
    ledger.planned = { plan: 'free', maxBytes: null };
    const cap = aCap(2, 1);
    cap.count(large(4));
    await cap.run();
    expect(() => {
      cap.requireRoom(accountId);
    }).toThrow(' 1 MiB');
    ledger.planned = { plan: 'pro', maxBytes: null };
    await rounds(cap, 4);
    expect(refuses(cap)).toBe(false);
  });

  it.each([
    ['less', 10, 1],
    ['more', 1, 10],
    ['without a limit in the settings', 0, 1],
  ])('takes what a plan says itself rather than the settings: %s', async (_what, perAccount, mebibytes) => {
    ledger.planned = { plan: 'free', maxBytes: mebibytes * 1_048_576 };
    const cap = aCap(perAccount, perAccount);
    cap.count(large(4));
    await cap.run();
    expect(refuses(cap)).toBe(mebibytes === 1);
  });

  it('refuses an account with the next round in which it stores something, when its plan has less room', async () => {
    const cap = aCap(10);
    cap.count(large(4));
    await cap.run();
    ledger.planned = { plan: 'small', maxBytes: 1_048_576 };
    cap.count([aMessage({ accountId })]);
    await cap.run();
    expect(refuses(cap)).toBe(true);
  });

  it('refuses no account without a cap, and counts nevertheless', async () => {
    const cap = aCap(0);
    cap.count(large(20));
    await rounds(cap, 4);
    expect(refuses(cap)).toBe(false);
    expect(ledger.days.size).toBe(1);
  });
});
