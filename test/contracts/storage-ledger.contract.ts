import type { AccountDay, StorageLedger } from '#messages/application/storage-ledger.js';
import { anAccountId } from '../support/messages.js';

export interface StorageLedgerSubject {
  /** Two processes on the same store. */
  readonly ledger: StorageLedger;
  readonly other: StorageLedger;
  /** Removes what was counted for a day, as it goes with the day's messages. */
  removeDay(day: number): Promise<void>;
  close(): Promise<void>;
}

const TODAY = 20_778;

const on = (accountId: string, day: number, bytes: number, messages = 1): AccountDay => ({
  ...{ accountId, day, bytes, messages },
});

/** What every ledger of storage guarantees. */
export function describeStorageLedger(name: string, open: () => Promise<StorageLedgerSubject>): void {
  describe(name, () => {
    let subject: StorageLedgerSubject;
    let accountId: string;
    beforeAll(async () => {
      subject = await open();
    });
    beforeEach(() => {
      accountId = anAccountId();
    });
    afterAll(() => subject.close());

    const totalOf = async (account: string) => (await subject.ledger.totals([account])).get(account) ?? 0;

    it('has nothing of an account that stores nothing, and of no account', async () => {
      expect(await totalOf(accountId)).toBe(0);
      expect((await subject.ledger.totals([])).size).toBe(0);
    });

    it('adds to a day, by whatever process, and tells what it is then', async () => {
      await subject.ledger.add([on(accountId, TODAY, 300)]);
      const [day] = await subject.other.add([on(accountId, TODAY, 1_000, 3)]);
      expect(day).toMatchObject({ accountId, day: TODAY, bytes: 1_300 });
      expect(await totalOf(accountId)).toBe(1_300);
    });

    it('tells the total of all days, without those that were removed', async () => {
      const days = [on(accountId, TODAY - 1, 20), on(accountId, TODAY, 300), on(anAccountId(), TODAY, 7)];
      const added = await subject.ledger.add(days);
      expect(new Set(added.map(({ day, bytes }) => `${day} ${bytes}`))).toEqual(
        new Set([`${TODAY - 1} 20`, `${TODAY} 300`, `${TODAY} 7`]),
      );
      expect(await totalOf(accountId)).toBe(320);
      await subject.removeDay(TODAY - 1);
      expect(await totalOf(accountId)).toBe(300);
    });

    it('knows no less than nothing, also when more was taken off than was ever counted', async () => {
      await subject.ledger.add([on(accountId, TODAY, 300), on(accountId, TODAY - 1, -500)]);
      expect(await totalOf(accountId)).toBe(0);
    });

    it('counts more bytes than 32 bits hold', async () => {
      await subject.ledger.add([on(accountId, TODAY, 2 ** 45)]);
      await subject.ledger.add([on(accountId, TODAY, 1)]);
      expect(await totalOf(accountId)).toBe(2 ** 45 + 1);
    });

    it('loses and repeats nothing when processes add to the same accounts in opposite orders', async () => {
      const accounts = Array.from({ length: 100 }, () => anAccountId());
      const one = accounts.map((account) => on(account, TODAY, 10));
      const rounds = Array.from({ length: 10 }, () => [
        subject.ledger.add(one),
        subject.other.add(one.toReversed().map((day) => ({ ...day, bytes: 1 }))),
      ]);
      await Promise.all(rounds.flat());
      const totals = await subject.ledger.totals(accounts);
      expect(accounts.map((account) => totals.get(account))).toEqual(accounts.map(() => 110));
    });
  });
}
