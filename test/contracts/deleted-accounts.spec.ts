import { randomUUID } from 'node:crypto';
import { PostgresAccounts } from '#accounts/adapters/postgres/postgres-accounts.js';
import { PostgresDeletions } from '#accounts/adapters/postgres/postgres-deletions.js';
import { ForgetAccounts } from '#accounts/application/forget-accounts.js';
import { PostgresStrayMessages } from '#delivery/adapters/postgres/postgres-stray-messages.js';
import { PostgresStreamPlaces } from '#events/adapters/postgres/postgres-stream-places.js';
import type { ForgetsAccounts } from '#kernel/forgets-accounts.js';
import { ForgetMessages } from '#messages/adapters/postgres/forgetting/forget-messages.js';
import { PostgresLeases } from '#messages/adapters/postgres/leases/postgres-leases.js';
import { PostgresStorageLedger } from '#messages/adapters/postgres/storage/postgres-storage-ledger.js';
import { aMessage, anAccountId, claimTerms, idempotency, jobOf, messages, SENT_AT } from '../support/messages.js';
import { aHash, aKey, anAccount } from './accounts.contract.js';
import { InMemoryJobQueue } from './fakes/in-memory-job-queue.js';
import { PostgresStore, type StoreProcess } from './postgres-store.js';

describe('A deleted account', () => {
  let store: PostgresStore;
  let process: StoreProcess;
  let accounts: PostgresAccounts;
  let deletions: PostgresDeletions;
  const [one, other] = [randomUUID(), randomUUID()];

  beforeAll(async () => {
    store = await PostgresStore.open();
    process = await store.process();
    accounts = await PostgresAccounts.open(process.database);
    deletions = await PostgresDeletions.open(process.database);
  });
  beforeEach(async () => {
    await store.reset();
    await store.sql('DELETE FROM sluice.deleted_accounts');
  });
  afterAll(() => store.close());

  const added = async () => {
    const account = anAccount();
    await accounts.add(account, aKey(account.id), aHash());
    return account.id;
  };
  const deleted = async () => {
    const id = await added();
    await deletions.request(id);
    return id;
  };
  const dueAgain = () => store.sql('UPDATE sluice.deleted_accounts SET next_pass_at = clock_timestamp()');
  const counts = async (accountId: string) => {
    const text = `SELECT (SELECT count(*)::int FROM sluice.messages WHERE account_id = $1) AS messages,
                         (SELECT count(*)::int FROM sluice.idempotency_keys WHERE account_id = $1) AS keys`;
    return (await store.sql<{ messages: number; keys: number }>(text, [accountId]))[0];
  };

  it.each([
    ['with a key', 'handler', (n: number) => idempotency(`key ${n}`)],
    ['without one', 'handler', () => null],
    ['for endpoints', 'webhooks', () => null],
    ['to be pulled', 'pull', (n: number) => idempotency(`key ${n}`)],
  ] as const)(
    'is refused by the store when it sends %s; others of the same commit are not',
    async (_name, delivery, key) => {
      const [gone, ...others] = [await deleted(), await added(), await added()];
      const send = (accountId: string, n: number) =>
        process.messages.add(messages(2, { accountId, delivery }), key(n)).then(
          () => 'stored',
          (error: unknown) => (error as { code: unknown }).code,
        );
      const results = await Promise.all([...others, gone, ...others, gone].map(send));
      expect(results).toEqual(['stored', 'stored', 'unauthorized', 'stored', 'stored', 'unauthorized']);
      expect(await counts(gone)).toEqual({ messages: 0, keys: 0 });
      for (const id of others) expect(await counts(id)).toMatchObject({ messages: 4 });
    },
  );

  it('is not counted, and gets no place for a stream, even after its id is removed', async () => {
    const [gone, kept] = [await deleted(), await added()];
    for (const remove of [
      () => Promise.resolve(),
      () => store.sql('UPDATE sluice.deleted_accounts SET account_id = NULL'),
    ]) {
      await remove();
      const ledger = new PostgresStorageLedger(process.database);
      const days = [gone, kept].map((accountId) => ({ accountId, day: 20_000, bytes: 1, messages: 1 }));
      expect((await ledger.add(days)).map(({ accountId }) => accountId)).toEqual([kept]);
      const places = new PostgresStreamPlaces(process.database);
      expect(await places.take(gone)).toBeNull();
      expect(await places.take(kept)).not.toBeNull();
      await expect(process.messages.add(messages(1, { accountId: gone }), null)).rejects.toThrow('valid API key');
    }
  });

  it('has nothing claimed or leased any more, though its messages are there', async () => {
    const [gone, kept] = [await added(), await added()];
    const leases = new PostgresLeases(process.database, process.reads, { maxAttempts: 5 }, process.availability);
    const terms = () => ({ max: 10, leaseMs: 60_000 });
    const [own, other] = [aMessage({ accountId: gone }), aMessage({ accountId: kept })];
    const pulled = [gone, kept].map((accountId) => aMessage({ accountId, delivery: 'pull' }));
    for (const message of [own, other, ...pulled]) await store.put(message);
    await deletions.request(gone);
    expect(await process.deliveries.claim(jobOf(own), claimTerms())).toBeNull();
    expect((await leases.lease(gone, terms())).messages).toEqual([]);
    expect(await process.deliveries.claim(jobOf(other), claimTerms())).not.toBeNull();
    expect((await leases.lease(kept, terms())).messages).toHaveLength(1);
  });

  it('gets no more jobs for the messages that are not removed yet, which are no strays', async () => {
    const [account, neighbour] = [await added(), await added()];
    const [own, others] = [account, neighbour].map((accountId) => messages(2, { accountId }));
    await store.commit(...(own ?? []), ...(others ?? []));
    await deletions.request(account);
    const relayed: string[] = [];
    await process.outbox.sweep(-1, (some) => {
      relayed.push(...some.map(({ id }) => id));
      return Promise.resolve(new Set());
    });
    expect(relayed).toEqual(others?.map(({ id }) => id).sort());
    // Those of a halted account would be added again.
    expect(await store.sql('SELECT FROM sluice.outbox')).toEqual([]);
    const strays = new PostgresStrayMessages(process.database, new InMemoryJobQueue());
    expect((await strays.findAfter('', 10))?.strays.map(({ id }) => id)).toEqual(relayed);
    expect(await strays.count()).toBe(2);
  });

  it('cannot get a key, and the ones that it had are unknown', async () => {
    const account = anAccount();
    const hash = aHash();
    await accounts.add(account, aKey(account.id), hash);
    const before = (await accounts.findKey(hash))?.epoch ?? NaN;
    await deletions.request(account.id);
    const [row] = await store.sql<{ epoch: string }>('SELECT epoch FROM sluice.accounts WHERE id = $1', [account.id]);
    expect(Number(row?.epoch)).toBeGreaterThan(before);
    expect(await accounts.findKey(hash)).toBeNull();
    expect(await accounts.addKey(aKey(account.id), aHash(), 'operator')).toBeNull();
    const key = aKey(account.id);
    expect(await accounts.replaceKey(account.id, key.id, SENT_AT, SENT_AT, aHash(), () => key)).toBeNull();
    expect(await accounts.update(account.id, (it) => it.resume(), 'operator')).toBeNull();
  });

  it('is taken by one process at a time, and by another one when that is gone or has released it', async () => {
    const ids = [await deleted(), await deleted()].sort();
    expect((await deletions.take(one)).sort()).toEqual(ids);
    ids.push(await deleted());
    expect(await deletions.take(other)).toEqual([]);
    expect((await deletions.take(one)).sort()).toEqual(ids.sort());
    await store.sql(`UPDATE sluice.deleted_accounts SET worker_until = clock_timestamp()`);
    expect((await deletions.take(other)).sort()).toEqual(ids);
    expect(await deletions.take(one)).toEqual([]);
    await deletions.release(other);
    expect((await deletions.take(one)).sort()).toEqual(ids);
  });

  it('loses its row with the second pass, and its id with the third; one that is not complete does not count', async () => {
    const id = await deleted();
    const exists = async () => (await store.sql('SELECT FROM sluice.accounts WHERE id = $1', [id])).length > 0;
    await store.sql('DELETE FROM sluice.api_keys WHERE account_id = $1', [id]);
    for (const [isComplete, row, finished] of [
      [false, true, false],
      [true, true, false],
      [false, true, false],
      [true, false, false],
      [false, false, false],
      [true, false, true],
    ] as const) {
      await dueAgain();
      expect(await deletions.take(one)).toEqual([id]);
      expect(await deletions.passed(id, isComplete)).toBe(finished);
      expect(await exists()).toBe(row);
      expect(await deletions.take(one)).toEqual([]);
    }
    expect(await deletions.request(id)).toMatchObject({ accountId: id, isNew: false });
  });

  it('keeps its row while something refers to it, and is tried again', async () => {
    const id = await deleted();
    await dueAgain();
    await deletions.passed(id, true);
    await expect(deletions.passed(id, true)).rejects.toThrow('foreign key');
    await store.sql('DELETE FROM sluice.api_keys WHERE account_id = $1', [id]);
    await deletions.passed(id, true);
    expect(await store.sql('SELECT FROM sluice.accounts WHERE id = $1', [id])).toEqual([]);
  });

  it('does not hold up another one, and a step that fails is tried again', async () => {
    const [large, small] = [await deleted(), await deleted()];
    const steps: string[] = [];
    let faults = 1;
    const part: ForgetsAccounts = {
      async *forget(accountId) {
        for (let step = 0; step < (accountId === large ? 40 : 2); step++) {
          if (accountId === small && faults-- > 0) throw new Error('deadlock detected');
          steps.push(accountId);
          await Promise.resolve();
          yield;
        }
        return true;
      },
    };
    const reports: unknown[] = [];
    const observer = { failed: (error: unknown) => reports.push(error), finished: () => undefined };
    const forget = new ForgetAccounts(deletions, [part], observer);
    await forget.run(new AbortController().signal);
    await forget.run(new AbortController().signal);
    expect(reports).toHaveLength(1);
    expect(steps.filter((id) => id === large).length).toBeGreaterThanOrEqual(40);
    expect(steps).toContain(small);
    expect(steps.lastIndexOf(small)).toBeLessThan(10);
  });

  it('loses its messages in steps that each take some, also those that change their status meanwhile', async () => {
    const accountId = anAccountId();
    const neighbour = anAccountId();
    for (const message of messages(3, { accountId: neighbour })) await store.put(message);
    await store.sql(
      `INSERT INTO sluice.messages (id, account_id, text, status, created_at, updated_at)
       SELECT 'msg_01h455vb4pex5vsknk' || lpad(n::text, 8, '0'), $1, 'text', 'queued', now(), now()
       FROM generate_series(1, 1200) n`,
      [accountId],
    );
    const left = async () => (await counts(accountId))?.messages;
    const locked = await store.transaction(
      'SELECT FROM sluice.messages WHERE account_id = $1 ORDER BY id LIMIT 1 FOR UPDATE',
      [accountId],
    );
    const run = new ForgetMessages(process.database).forget(accountId);
    const seen: unknown[] = [];
    for (let step = await run.next(); ; step = await run.next()) {
      seen.push(await left());
      if (step.done === true) {
        expect(step.value).toBe(false);
        break;
      }
    }
    expect(seen.slice(0, 3)).toEqual([700, 200, 1]);
    await locked.query(`UPDATE sluice.messages SET status = 'cancelled' WHERE id = 'msg_01h455vb4pex5vsknk00000001'`);
    await locked.query('COMMIT');
    const again = new ForgetMessages(process.database).forget(accountId);
    let end = await again.next();
    while (end.done !== true) end = await again.next();
    expect([end.value, await left()]).toEqual([true, 0]);
    expect(await counts(neighbour)).toMatchObject({ messages: 3 });
  });
});
