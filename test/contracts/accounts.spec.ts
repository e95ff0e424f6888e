import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresAccounts } from '#accounts/adapters/postgres/postgres-accounts.js';
import { Account } from '#accounts/domain/account.js';
import type { ApiKey } from '#accounts/domain/api-key.js';
import { UuidV7Ids } from '#kernel/ids.js';
import { Database } from '#platform/database/database.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { after, SENT_AT } from '../support/messages.js';

const ids = new UuidV7Ids();
const aHash = () => randomBytes(32);

function aKey(accountId: string): ApiKey {
  return {
    ...{ id: ids.next('key', SENT_AT), accountId, name: 'key', scopes: ['messages:send'] },
    ...{ createdAt: SENT_AT, expiresAt: null, lastUsedAt: null },
  };
}

describe('PostgresAccounts', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  let accounts: PostgresAccounts;
  let account: Account;
  let key: ApiKey;
  let hash: Buffer;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const url = testDatabase.url;
    database = await Database.connect({ url, poolSize: 5, applicationName: 'contract', onError: () => undefined });
    accounts = new PostgresAccounts(database);
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.drop();
  });
  beforeEach(async () => {
    account = Account.open(ids.next('acct', SENT_AT), 'Acme', SENT_AT);
    [key, hash] = [aKey(account.id), aHash()];
    await accounts.add(account, key, hash);
  });

  const epoch = async ({ id } = account) => {
    const [row] = await database.query<{ epoch: string }>('SELECT epoch FROM sluice.accounts WHERE id = $1', [id]);
    return Number(row?.epoch);
  };
  const lastUse = async () => (await accounts.findKey(hash))?.key.lastUsedAt;
  const replace = (endsAt: Date) =>
    accounts.replaceKey(account.id, key.id, SENT_AT, endsAt, aHash(), (old) => ({ ...old, id: aKey(account.id).id }));

  it('gives an account and a key back as they were added', async () => {
    expect(await accounts.find(account.id)).toEqual(account);
    expect(await accounts.findKey(hash)).toEqual({ key, epoch: 0 });
    expect(await accounts.findKey(aHash())).toBeNull();
  });

  it('adds an account and its key, or neither', async () => {
    const second = Account.open(ids.next('acct', SENT_AT), 'Second', SENT_AT);
    await expect(accounts.add(second, aKey(second.id), hash)).rejects.toThrow('duplicate key');
    expect(await accounts.find(second.id)).toBeNull();
  });

  describe('moves the epoch of the account, and of no other', () => {
    const changes: [string, () => Promise<unknown>][] = [
      ['the plan changes', () => accounts.update(account.id, (it) => it.changePlan('pro', null))],
      ['a key is revoked', () => accounts.revokeKey(account.id, key.id, SENT_AT)],
      ['a key is replaced', () => replace(SENT_AT)],
      ['a key is replaced with a grace', () => replace(after(60_000))],
      ['somebody revokes a key by hand', () => byHand('UPDATE sluice.api_keys SET revoked_at = now() WHERE id = $1')],
      ['somebody takes its scopes by hand', () => byHand("UPDATE sluice.api_keys SET scopes = '{}' WHERE id = $1")],
      ['somebody deletes a key by hand', () => byHand('DELETE FROM sluice.api_keys WHERE id = $1')],
      [
        'somebody changes its limits by hand',
        () => database.query('UPDATE sluice.accounts SET per_minute = 1 WHERE id = $1', [account.id]),
      ],
    ];
    const byHand = (statement: string) => database.query(statement, [key.id]);

    it.each(changes)('when %s', async (_name, change) => {
      const other = Account.open(ids.next('acct', SENT_AT), 'Other', SENT_AT);
      await accounts.add(other, aKey(other.id), aHash());
      await change();
      expect(await epoch()).toBeGreaterThan(0);
      expect(await epoch(other)).toBe(0);
    });
  });

  it('leaves the epoch alone when nothing changes for a key that there is', async () => {
    await accounts.addKey(aKey(account.id), aHash());
    await accounts.noteUse(new Map([[key.id, SENT_AT]]));
    await accounts.revokeKey(account.id, aKey(account.id).id, SENT_AT);
    await expect(
      accounts.replaceKey(account.id, key.id, SENT_AT, SENT_AT, aHash(), () => {
        throw new Error('not this one');
      }),
    ).rejects.toThrow('not this one');

    expect(await epoch()).toBe(0);
    expect(await accounts.findKey(hash)).toMatchObject({ key: { id: key.id, expiresAt: null } });
  });

  it('changes an account one change after the other, each made from what the one before has left', async () => {
    const enterprise = account.changePlan('enterprise', { perMinute: 1, perDay: 1 });
    await accounts.update(account.id, () => enterprise);
    const addOne = () =>
      accounts.update(account.id, (it) =>
        it.changePlan(null, { perMinute: it.limits.perMinute + 1, perDay: it.limits.perDay + 1 }),
      );
    const told = await Promise.all(Array.from({ length: 10 }, addOne));

    expect(told.map((it) => it?.limits.perMinute).sort((one, other) => Number(one) - Number(other))).toEqual(
      Array.from({ length: 10 }, (_, index) => index + 2),
    );
    expect((await accounts.find(account.id))?.limits).toEqual({ perMinute: 11, perDay: 11 });
  });

  it('leaves an account as it was when its change is refused, and makes none up', async () => {
    const limits = { perMinute: 1, perDay: 1 };
    await expect(accounts.update(account.id, (it) => it.changePlan(null, limits))).rejects.toThrow('only with');
    expect(await accounts.find(account.id)).toEqual(account);
    expect(await accounts.update(ids.next('acct', SENT_AT), (it) => it)).toBeNull();
    expect(await accounts.update('nonsense', (it) => it)).toBeNull();
  });

  it('notes the latest use of each key', async () => {
    expect(await lastUse()).toBeNull();
    await accounts.noteUse(
      new Map([
        ['key_unknown', SENT_AT],
        [key.id, SENT_AT],
      ]),
    );
    expect(await lastUse()).toEqual(SENT_AT);
    await accounts.noteUse(new Map([[key.id, after(-60_000)]]));
    expect(await lastUse()).toEqual(SENT_AT);
    await accounts.noteUse(new Map([[key.id, after(60_000)]]));
    expect(await lastUse()).toEqual(after(60_000));
  });

  it('locks keys in one order, so that no two processes wait for each other', async () => {
    const keys = [aKey(account.id), aKey(account.id)].sort((one, other) => (one.id < other.id ? 1 : -1));
    const [high = '', low = ''] = keys.map(({ id }) => id);
    for (const one of keys) await accounts.addKey(one, aHash());
    const noting = await database.transaction(async (client) => {
      await client.query('SELECT FROM sluice.api_keys WHERE id = $1 FOR UPDATE', [low]);
      const write = accounts.noteUse(new Map([high, low].map((id) => [id, SENT_AT])));
      const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      while ((await database.query(waiting)).length === 0) await sleep(5);
      const free = await database.query('SELECT FROM sluice.api_keys WHERE id = $1 FOR UPDATE SKIP LOCKED', [high]);
      return { write, free: free.length };
    });
    await noting.write;

    expect(noting.free).toBe(1);
    const noted = await accounts.listKeys(account.id, { limit: 3, before: null });
    expect(noted.filter(({ lastUsedAt }) => lastUsedAt !== null)).toHaveLength(2);
  });
});
