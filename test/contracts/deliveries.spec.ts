import { CLAIM } from '#messages/adapters/postgres/claims/claim.sql.js';
import type { Message } from '#messages/domain/message.js';
import { aClaim, aMessage, claim, claimTerms, jobOf, messages, SENT_AT } from '../support/messages.js';
import { describeDeliveries, type DeliveriesSubject } from './deliveries.contract.js';
import { InMemoryDeliveries } from './fakes/in-memory-deliveries.js';
import { InMemoryStore } from './fakes/in-memory-store.js';
import { PostgresStore } from './postgres-store.js';

function openInMemory(): Promise<DeliveriesSubject> {
  const store = new InMemoryStore();
  const put = (message: Message) => Promise.resolve(void store.messages.set(message.id, message));
  return Promise.resolve({
    deliveries: new InMemoryDeliveries(store),
    other: new InMemoryDeliveries(store),
    put,
    replace: put,
    attempts: ({ id }) => Promise.resolve(store.attempts.get(id) ?? []),
    find: ({ id }) => Promise.resolve(store.messages.get(id) ?? null),
    close: () => Promise.resolve(),
  });
}

async function openPostgres(): Promise<DeliveriesSubject> {
  const store = await PostgresStore.open();
  const { deliveries, messages: stored } = await store.process();
  return {
    deliveries,
    other: (await store.process()).deliveries,
    put: (message) => store.put(message),
    attempts: async ({ id, state }) => {
      const all = (await stored.attempts(state.accountId, id)) ?? [];
      return all.filter(({ outcome }) => outcome !== 'running');
    },
    find: (message) => store.find(message),
    replace: async (message) => {
      await store.sql('DELETE FROM sluice.messages WHERE id = $1', [message.id]);
      await store.put(message);
    },
    close: () => store.close(),
  };
}

describeDeliveries('InMemoryDeliveries', openInMemory);
describeDeliveries('PostgresDeliveries', openPostgres);

describe('PostgresDeliveries, in batches', () => {
  let store: PostgresStore;
  beforeAll(async () => {
    store = await PostgresStore.open();
  });
  afterAll(() => store.close());

  it.each(['pull', 'webhooks'] as const)('claims no message for delivery by %s', async (delivery) => {
    const { deliveries } = await store.process();
    const message = aMessage({ delivery });
    await store.put(message);
    expect(await deliveries.claim(jobOf(message), claimTerms())).toBeNull();
    expect(await store.find(message)).toEqual(message);
  });

  it('rejects only the claim and the end that cannot be stored', async () => {
    const { deliveries } = await store.process();
    const all = messages(21);
    for (const message of all) await store.put(message);
    const claims = await Promise.allSettled(
      all.map((message, index) => claim(deliveries, message, claimTerms(index === 10 ? { token: 'none' } : {}))),
    );
    const claimed = claims.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(claimed).toHaveLength(20);
    const ends = await Promise.allSettled(
      claimed.map((message, index) =>
        deliveries.settle(message, message.fail(index === 5 ? '\u0000' : 'no luck', SENT_AT)),
      ),
    );
    expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    const [row] = await store.sql<{ failed: number }>(
      `SELECT count(*)::int AS failed FROM sluice.messages WHERE status = 'failed'`,
    );
    expect(row).toEqual({ failed: 19 });
  });

  it('waits for the messages of other handlers, so that they share a batch', async () => {
    const { deliveries } = await store.process();
    const claimed: Message[] = [];
    for (const message of messages(21)) {
      await store.put(message);
      claimed.push(await claim(deliveries, message));
    }
    const begun = performance.now();
    for (const message of claimed.slice(1)) await deliveries.settle(message, message.deliver(SENT_AT));
    // Each starts 5 ms after the one before, but for what a timer may be early.
    expect(performance.now() - begun).toBeGreaterThan(19 * 4);
  });

  it.each([
    ['delivered', (message: Message) => message.deliver(SENT_AT)],
    ['failed', (message: Message) => message.fail('no luck', SENT_AT)],
    ['queued', (message: Message) => message.requeue('no luck', SENT_AT, SENT_AT)],
  ])('stores the end of an attempt whose claim a crash of the database has lost: %s', async (status, end) => {
    const { deliveries } = await store.process();
    const message = aMessage({ attempts: 2 });
    await store.put(message);
    const claimed = await claim(deliveries, message);
    const lose = () =>
      store.sql('DELETE FROM sluice.messages WHERE id = $1', [message.id]).then(() => store.put(message));
    await lose();
    for (let time = 0; time < 2; time++) expect(await deliveries.settle(claimed, end(claimed))).toBe(true);
    expect((await store.find(message))?.state).toMatchObject({ status, attempts: 3, claim: null });
    // Another worker had claimed it by then.
    await lose();
    const other = await claim(deliveries, message);
    expect(await deliveries.settle(claimed, end(claimed))).toBe(false);
    expect(await store.find(message)).toEqual(other);
  });

  it.each([
    ['a first attempt', {}, 'off'],
    ['a first attempt of a message with an ordering key', { orderingKey: 'one' }, 'on'],
    ['a take-over', { status: 'processing', attempts: 1, claim: aClaim() }, 'on'],
  ] as const)('waits for the disk, or not, when it claims %s', async (_, state, expected) => {
    const { database } = await store.process();
    const message = aMessage(state);
    await store.put(message);
    const [row] = await database.query<{ synchronous_commit: string | null }>(CLAIM.for([message.id]).text, [
      [message.id],
      [message.state.retries],
      [claimTerms().token],
      [60_000],
    ]);
    expect(row?.synchronous_commit ?? 'on').toBe(expected);
  });

  it('leaves the messages of a suspended account in the outbox until it is resumed, and counts no attempt', async () => {
    const { deliveries, outbox } = await store.process();
    const [queued, taken, other] = [aMessage(), aMessage(), aMessage({ accountId: 'acct_other' })];
    await store.sql(`INSERT INTO sluice.accounts (id, name, plan, per_minute, per_day, created_at, suspended)
      SELECT id, '', 'free', 1, 1, now(), id = '${queued.state.accountId}'
      FROM unnest(ARRAY['acct_other', '${queued.state.accountId}']) AS id`);
    for (const message of [queued, taken, other]) await store.put(message);
    for (const message of [queued, taken]) expect(await deliveries.claim(jobOf(message), claimTerms())).toBeNull();
    expect((await claim(deliveries, other)).id).toBe(other.id);
    expect(await store.find(queued)).toEqual(queued);

    const swept: string[] = [];
    const sweep = async () => {
      const relay = (all: readonly Message[]) =>
        Promise.resolve(new Set<string>(void swept.push(...all.map(({ id }) => id))));
      while ((await outbox.sweep(0, relay)) > 0);
      return swept;
    };
    expect(await sweep()).toEqual([]);
    const waiting = 'SELECT FROM sluice.outbox WHERE suspended_account IS NOT NULL';
    expect(await store.sql(waiting)).toHaveLength(2);
    await store.sql('UPDATE sluice.accounts SET suspended = false');
    await store.sql(`UPDATE sluice.outbox SET created_at = created_at - interval '1 second'`);
    expect((await sweep()).sort()).toEqual([queued.id, taken.id].sort());
    expect((await claim(deliveries, queued)).state.attempts).toBe(1);
  });

  it('is unavailable while the message is locked for longer than a statement waits', async () => {
    const { deliveries } = await store.process();
    const message = aMessage();
    await store.put(message);
    const claimed = await claim(deliveries, message);
    await store.transaction('SELECT FROM sluice.messages WHERE id = $1 FOR UPDATE', [message.id]);
    const results = [claim(deliveries, message), deliveries.settle(claimed, claimed.deliver(SENT_AT))];
    for (const result of results) await expect(result).rejects.toMatchObject({ code: 'unavailable' });
  });
});
