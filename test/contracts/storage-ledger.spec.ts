import { PostgresStorageLedger } from '#messages/adapters/postgres/storage/postgres-storage-ledger.js';
import type { AccountDay, StorageLedger } from '#messages/application/storage/storage-ledger.js';
import { anAccountId } from '../support/messages.js';
import { InMemoryStorageLedger } from './fakes/in-memory-storage-ledger.js';
import { PostgresStore } from './postgres-store.js';

const TODAY = 20_778;

const on = (accountId: string, day: number, bytes: number, messages = 1): AccountDay => ({
  accountId,
  day,
  bytes,
  messages,
});

/** Two processes on the same store; `removeDay` removes what was counted for a day, as it goes with the day's messages. */
interface Subject {
  readonly ledger: StorageLedger;
  readonly other: StorageLedger;
  anAccount(): Promise<string>;
  removeDay(day: number): Promise<unknown>;
  close(): Promise<void>;
}

function openInMemory(): Promise<Subject> {
  const ledger = new InMemoryStorageLedger();
  const removeDay = (removed: number) => {
    for (const [name, { day }] of ledger.days) if (day === removed) ledger.days.delete(name);
    return Promise.resolve();
  };
  return Promise.resolve({
    ...{ ledger, other: ledger, removeDay },
    anAccount: () => Promise.resolve(anAccountId()),
    close: () => Promise.resolve(),
  });
}

async function openPostgres(): Promise<Subject> {
  const store = await PostgresStore.open();
  return {
    ledger: new PostgresStorageLedger((await store.process()).database),
    other: new PostgresStorageLedger((await store.process()).database),
    anAccount: async () => {
      const id = anAccountId();
      const text = `INSERT INTO sluice.accounts VALUES ($1, 'Test', 'pro', 1, 1, 0, now())`;
      await store.sql(text, [id]);
      return id;
    },
    removeDay: (day) => store.sql(`DELETE FROM sluice.storage WHERE day = DATE '1970-01-01' + $1::integer`, [day]),
    close: () => store.close(),
  };
}

describe.each([
  ['InMemoryStorageLedger', openInMemory],
  ['PostgresStorageLedger', openPostgres],
])('%s', (_name, open) => {
  let subject: Subject;
  let accountId: string;
  beforeAll(async () => {
    subject = await open();
  });
  beforeEach(async () => {
    accountId = await subject.anAccount();
  });
  afterAll(() => subject.close());

  const totalOf = async (account: string) => (await subject.ledger.totals([account])).get(account)?.bytes ?? 0;

  it('reports nothing for an account that stores nothing, and for no accounts', async () => {
    expect(await totalOf(accountId)).toBe(0);
    expect((await subject.ledger.totals([])).size).toBe(0);
  });

  it('adds to a day from any process, and returns the new total', async () => {
    await subject.ledger.add([on(accountId, TODAY, 300)]);
    const [day] = await subject.other.add([on(accountId, TODAY, 1_000, 3)]);
    expect(day).toMatchObject({ accountId, day: TODAY, bytes: 1_300, planned: { maxBytes: null } });
    expect(await totalOf(accountId)).toBe(1_300);
  });

  it('totals all days but those that were removed', async () => {
    const days = [on(accountId, TODAY - 1, 20), on(accountId, TODAY, 300), on(await subject.anAccount(), TODAY, 7)];
    const added = await subject.ledger.add(days);
    expect(new Set(added.map(({ day, bytes }) => `${day} ${bytes}`))).toEqual(
      new Set([`${TODAY - 1} 20`, `${TODAY} 300`, `${TODAY} 7`]),
    );
    expect(await totalOf(accountId)).toBe(320);
    await subject.removeDay(TODAY - 1);
    expect(await totalOf(accountId)).toBe(300);
  });

  it('never reports less than nothing', async () => {
    await subject.ledger.add([on(accountId, TODAY, 300), on(accountId, TODAY - 1, -500)]);
    expect(await totalOf(accountId)).toBe(0);
  });

  it('counts more bytes than 32 bits hold', async () => {
    await subject.ledger.add([on(accountId, TODAY, 2 ** 45)]);
    await subject.ledger.add([on(accountId, TODAY, 1)]);
    expect(await totalOf(accountId)).toBe(2 ** 45 + 1);
  });

  it('adds exactly once when processes add to the same accounts in opposite orders', async () => {
    const accounts = await Promise.all(Array.from({ length: 100 }, () => subject.anAccount()));
    const one = accounts.map((account) => on(account, TODAY, 10));
    const rounds = Array.from({ length: 10 }, () => [
      subject.ledger.add(one),
      subject.other.add(one.toReversed().map((day) => ({ ...day, bytes: 1 }))),
    ]);
    await Promise.all(rounds.flat());
    const totals = await subject.ledger.totals(accounts);
    expect(accounts.map((account) => totals.get(account)?.bytes)).toEqual(accounts.map(() => 110));
  });
});
