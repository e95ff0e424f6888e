import { PostgresExpiredLeases } from '#messages/adapters/postgres/leases/postgres-expired-leases.js';
import { PostgresLeases } from '#messages/adapters/postgres/leases/postgres-leases.js';
import type { Message } from '#messages/domain/message.js';
import { aMessage, claim, claimTerms, jobOf, messages } from '../../support/messages.js';
import { openReconciling, type Reconciling } from '../reconciling-process.js';
import { WebhookStore } from '../webhook-store.js';
import { WAYS } from './ways.js';

const retried = (message: Message) => message.retry(new Date());

/** Messages for handlers with one key, of which each has its job once it may begin. */
describe('Jobs of messages with an ordering key', () => {
  let parts: Reconciling;
  beforeAll(async () => {
    parts = await openReconciling();
  });
  beforeEach(() => parts.reset());
  afterAll(() => parts.close());

  const send = async (count: number) => {
    const sent = messages(count, { orderingKey: 'key' });
    await parts.messages.add(sent, null);
    return sent as [Message, Message, ...Message[]];
  };
  const change = (message: Message, transition: (message: Message) => Message) =>
    parts.messages.change(message.state.accountId, message.id, transition);
  const hasJob = async (message: Message, retries = 0) =>
    (await parts.bullmq.job(retries === 0 ? message.id : `${message.id}.${retries}`)) !== undefined;
  const jobIsThere = (message: Message, retries = 0) => parts.store.until(() => hasJob(message, retries));
  const fail = async (message: Message) => {
    const claimed = await claim(parts.deliveries, message);
    expect(await parts.deliveries.settle(claimed, claimed.fail('no', new Date()))).toBe(true);
  };

  it('are added when the message before has ended, without waiting for a sweeper', async () => {
    const [first, second] = await send(2);
    await jobIsThere(first);
    expect(await hasJob(second)).toBe(false);
    await fail(first);
    await jobIsThere(second);
  });

  it('are in the queue when a worker that has little else to do completes the job before and takes another', async () => {
    const sent = await send(10);
    let tookMs = Infinity;
    for (const message of sent) {
      // It waits for the next job for 100 ms, which a busy machine may exceed.
      if (tookMs < 100) expect(await hasJob(message)).toBe(true);
      await jobIsThere(message);
      const began = performance.now();
      await fail(message);
      tookMs = performance.now() - began;
    }
  });

  it('are added when another program has ended the one before', async () => {
    const [first, second] = await send(2);
    await jobIsThere(first);
    await (await parts.take('foreign'))?.complete();
    await parts.store.until(async () => (await parts.follower.execute()) > 0);
    await jobIsThere(second);
    expect((await parts.store.find(first))?.state.status).toBe('delivered');
  });

  it('are taken back when a message before theirs is retried, and returned after it', async () => {
    const [first, second] = await send(2);
    await jobIsThere(first);
    await fail(first);
    await jobIsThere(second);
    await change(first, retried);
    await jobIsThere(first, 1);
    await parts.store.until(async () => !(await hasJob(second)));
    // As a worker that had taken the job just before.
    expect(await parts.deliveries.claim(jobOf(second), claimTerms())).toEqual({ dueInMs: 1_000 });
    expect((await parts.messages.find(second.state.accountId, second.id))?.state.nextAttemptAt).toBeNull();
    const again = await claim(parts.deliveries, aMessage({ ...first.state, retries: 1 }));
    await parts.deliveries.settle(again, again.deliver(new Date()));
    await jobIsThere(second);
    expect((await claim(parts.deliveries, second)).state.attempts).toBe(1);
  });

  it('are not taken back from a worker, nor while the message waits for its next attempt', async () => {
    const [first, second] = await send(2);
    await fail(first);
    await jobIsThere(second);
    const claimed = await claim(parts.deliveries, second);
    const at = new Date();
    await parts.deliveries.settle(claimed, claimed.requeue('no', at, at));
    await change(first, retried);
    expect(await hasJob(second)).toBe(true);
    expect(await hasJob(first, 1)).toBe(false);
  });

  it('are left out by the sweeper while they are taken back', async () => {
    const [first, second] = await send(2);
    await fail(first);
    await change(first, retried);
    await parts.store.sql(`INSERT INTO sluice.outbox (message_ids, bytes, for_sweeper) VALUES (ARRAY[$1], 1, true)`, [
      second.id,
    ]);
    const swept: string[] = [];
    await parts.outbox.sweep(0, (all) => Promise.resolve(new Set<string>(void swept.push(...all.map(({ id }) => id)))));
    expect(swept).not.toContain(second.id);
  });

  it('are no strays while they wait for others, and lost ones of the first message are', async () => {
    const [first, ...others] = await send(3);
    await jobIsThere(first);
    expect(await parts.strays.count()).toBe(0);
    expect(await parts.reconcile()).toEqual([]);
    await parts.store.until(async () => (await parts.store.entries()).length === 0);
    await parts.queue.lose(first.id);
    expect(await parts.strays.count()).toBe(1);
    expect(await parts.reconcile()).toEqual([{ requeued: 1, followed: 0 }]);
    await parts.relay.sweep(0);
    expect(await hasJob(first)).toBe(true);
    // Not their number: the job of a retry in the test before may arrive late.
    for (const other of others) expect(await hasJob(other)).toBe(false);
  });

  it('go on by the reconciler when a worker of the version before has ended the first message', async () => {
    const [first, second] = await send(3);
    await jobIsThere(first);
    await parts.store.sql(`UPDATE sluice.messages SET status = 'delivered' WHERE id = $1`, [first.id]);
    await parts.queue.lose(first.id);
    expect(await parts.strays.count()).toBe(1);
    expect(await parts.reconcile()).toEqual([{ requeued: 1, followed: 0 }]);
    expect(await parts.strays.count()).toBe(0);
    await parts.relay.sweep(0);
    expect(await hasJob(second)).toBe(true);
  });

  it('wait with the first message of a suspended account', async () => {
    const [first, second] = await send(2);
    await parts.store.sql(
      `INSERT INTO sluice.accounts (id, name, plan, per_minute, per_day, created_at, suspended)
       VALUES ($1, '', 'free', 1, 1, now(), true)`,
      [first.state.accountId],
    );
    expect(await parts.deliveries.claim(jobOf(first), claimTerms())).toBeNull();
    expect(await parts.strays.count()).toBe(0);
    await parts.store.sql('UPDATE sluice.accounts SET suspended = false');
    await fail(first);
    await jobIsThere(second);
    await parts.store.sql('DELETE FROM sluice.accounts');
  });
});

describe('Leases of messages with an ordering key', () => {
  let webhooks: WebhookStore;
  beforeAll(async () => {
    webhooks = await WebhookStore.open();
  });
  beforeEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  const lapse = 'UPDATE sluice.messages SET available_at = now(), claim_expires_at = now() WHERE id = $1';

  it.each(['another lease', 'the reconciler'])(
    'let the next one pass when the last attempt expires, by %s',
    async (by) => {
      const { store, process } = webhooks;
      const way = await WAYS.pull(webhooks);
      const leases = new PostgresLeases(process.database, process.reads, { maxAttempts: 1 }, process.availability);
      const expired = new PostgresExpiredLeases(process.database, { maxAttempts: 1 }, process.availability);
      const [first, second] = [way.aMessage('key'), way.aMessage('key')];
      await process.messages.add([first, second], null);
      const terms = () => ({ max: 10, leaseMs: 60_000 });
      const leased = async () => (await leases.lease(way.accountId, terms())).messages.map(({ id }) => id);
      expect(await leased()).toEqual([first.id]);
      expect(await leases.nextIn(way.accountId)).toBeGreaterThan(1_000);
      await store.sql(lapse, [first.id]);
      process.announced.length = 0;
      if (by === 'the reconciler') await expired.end(10);
      else expect(await leased()).toEqual([]);
      expect(process.announced).toEqual([way.accountId]);
      expect((await store.find(first))?.state.status).toBe('failed');
      expect(await leased()).toEqual([second.id]);
    },
  );

  it('do not find the time of one that waits for another', async () => {
    const { store, process } = webhooks;
    const way = await WAYS.pull(webhooks);
    const leases = new PostgresLeases(process.database, process.reads, { maxAttempts: 5 }, process.availability);
    await process.messages.add([way.aMessage('key'), way.aMessage('key')], null);
    await store.sql(`UPDATE sluice.messages SET available_at = 'infinity'`);
    expect(await leases.nextIn(way.accountId)).toBeNull();
    expect(await webhooks.deliveries.nextIn()).toBeNull();
  });

  it('go on when a consumer is told of the end of the message before, with a fault in between', async () => {
    const { process, store } = webhooks;
    const way = await WAYS.pull(webhooks);
    await process.messages.add([way.aMessage('key'), way.aMessage('key')], null);
    await store.sql(`UPDATE sluice.ordered_deliveries SET released = false`);
    await store.sql(`UPDATE sluice.messages SET available_at = 'infinity'`);
    expect(await way.begin()).toEqual([]);
    const parts = await store.sql<{ is_stuck: boolean }>(`SELECT is_stuck FROM sluice.inspect_lines('', '', 10)`);
    expect(parts).toEqual([{ is_stuck: true }]);
    await store.sql(`SELECT * FROM sluice.heal_lines(ARRAY[$1], ARRAY['key'])`, [`${way.accountId} pull`]);
    expect(await way.begin()).toHaveLength(1);
  });
});

describe('Endpoints, with an ordering key', () => {
  let webhooks: WebhookStore;
  beforeAll(async () => {
    webhooks = await WebhookStore.open();
  });
  beforeEach(() => webhooks.reset());
  afterAll(() => webhooks.close());

  it('each have a progress of their own', async () => {
    const way = await WAYS.webhooks(webhooks);
    const [one = '', two = ''] = way.targets;
    const sent = [way.aMessage('key'), way.aMessage('key'), way.aMessage('key')];
    await way.process.messages.add(sent, null);
    const [first, second, third] = sent.map(({ id }) => id);
    const begun = await way.begin();
    expect(begun.map(({ id }) => id)).toEqual([first, first]);
    const of = (target: string, all = begun) => all.filter((delivery) => delivery.target === target);
    for (const id of [first, second]) {
      const [delivery] = id === first ? of(one) : await way.begin();
      expect(delivery).toEqual({ id, target: one });
      await way.end({ id: id ?? '', target: one }, 'delivered');
    }
    expect(await way.begin()).toEqual([{ id: third, target: one }]);
    for (const delivery of of(two)) await way.end(delivery, 'failed');
    expect(await way.begin()).toEqual([{ id: second, target: two }]);
  });

  it.each(['disabled', 'deleted'] as const)('let go of all that waits when one is %s, and of no other', async (how) => {
    const way = await WAYS.webhooks(webhooks);
    const [one = '', two = ''] = way.targets;
    await way.process.messages.add([way.aMessage('key'), way.aMessage('key'), way.aMessage('other')], null);
    if (how === 'disabled') await webhooks.enable(one, false);
    else await webhooks.store.sql('DELETE FROM sluice.endpoints WHERE id = $1', [one]);
    expect(await webhooks.abandon(one, `endpoint_${how}`)).toBe(3);
    const lines = await webhooks.store.sql<{ line: string }>('SELECT line FROM sluice.ordered_deliveries');
    expect(lines.map(({ line }) => line)).toEqual([two, two, two]);
    expect(await way.begin()).toHaveLength(2);
  });

  it('are not waited for by the cancellation of a message whose deliveries are about to be leased', async () => {
    const way = await WAYS.webhooks(webhooks);
    const sent = [way.aMessage('key'), way.aMessage('key')] as const;
    await way.process.messages.add(sent, null);
    const [first, second] = sent;
    const locked = 'SELECT FROM sluice.endpoint_deliveries WHERE message_id = $1 FOR UPDATE';
    const leasing = await webhooks.store.transaction(locked, [first.id]);
    const cancelled = await way.process.messages.change(way.accountId, first.id, (one) => one.cancel(new Date()));
    expect(cancelled?.state.status).toBe('cancelled');
    await leasing.query('ROLLBACK');
    // Whoever leases them drops them.
    expect(await way.begin()).toEqual([]);
    expect((await way.begin()).map(({ id }) => id)).toEqual([second.id, second.id]);
  });

  it('tell workers that the next delivery may be made, after the commit', async () => {
    const way = await WAYS.webhooks(webhooks);
    const sent = [way.aMessage('key'), way.aMessage('key')];
    await way.process.messages.add(sent, null);
    const [begun] = await way.begin();
    webhooks.announced.length = 0;
    if (begun !== undefined) await way.end(begun, 'delivered');
    expect(webhooks.announced).toEqual([['webhooks']]);
  });

  it('get replayed messages in their order, before those that have not begun', async () => {
    const way = await WAYS.webhooks(webhooks);
    const [one = '', two = ''] = way.targets;
    await webhooks.enable(two, false);
    const sent = [1, 2, 3, 4].map(() => way.aMessage('key'));
    await way.process.messages.add(sent, null);
    for (let n = 0; n < 3; n++) for (const begun of await way.begin()) await way.end(begun, 'failed');
    const terms = { since: new Date(0), until: new Date(Date.now() + 366 * 86_400_000), max: 100, perSecond: 1_000 };
    const replay = () => webhooks.deliveries.replay(way.accountId, one, terms, new AbortController().signal);
    expect(await replay()).toBe(3);
    expect(await replay()).toBe(0);
    const order: string[] = [];
    for (let n = 0; n < 4; n++) {
      for (const begun of await way.begin()) {
        order.push(begun.id);
        await way.end(begun, 'delivered');
      }
    }
    expect(order).toEqual(sent.map(({ id }) => id));
  });

  it.each([
    ['failed', 'delivered', 'skipped'],
    ['skipped', 'failed', 'delivered'],
    ['delivered', 'skipped', 'failed'],
  ] as const)('get replayed messages in their order, whose statuses are %s, %s and %s', async (...statuses) => {
    const way = await WAYS.webhooks(webhooks);
    const [one = ''] = way.targets;
    const sent = statuses.map(() => way.aMessage('key'));
    await way.process.messages.add(sent, null);
    await webhooks.store.sql('DELETE FROM sluice.ordered_deliveries');
    await webhooks.store.sql('DELETE FROM sluice.endpoint_deliveries');
    for (const [index, { id }] of sent.entries()) {
      await webhooks.store.sql('UPDATE sluice.messages SET status = $2 WHERE id = $1', [id, statuses[index]]);
    }
    const terms = { since: new Date(0), until: new Date(Date.now() + 366 * 86_400_000), max: 100, perSecond: 1_000 };
    const begun: string[] = [];
    const begin = async () => begun.push(...(await way.begin()).map(({ id }) => id));
    const steps: Promise<unknown>[] = [];
    const { signal } = new AbortController();
    await webhooks.deliveries.replay(way.accountId, one, terms, signal, () => void steps.push(begin()));
    await Promise.all(steps);
    expect(begun).toEqual([sent[0]?.id]);
  });
});
