import { lowestId } from '#kernel/ids.js';
import type { Message, MessageState } from '#messages/domain/message.js';
import { after, SENT_AT } from '../support/messages.js';
import { resultOf, WebhookStore } from './webhook-store.js';

const ALWAYS = { since: after(-60_000), until: after(60_000), max: 1_000, perSecond: 100 };
const waiting = () => new AbortController().signal;

describe('EndpointDeliveries that an endpoint has missed', () => {
  let webhooks: WebhookStore;
  let accountId: string;
  let one: string;
  let two: string;
  beforeAll(async () => {
    webhooks = await WebhookStore.open();
  });
  beforeEach(async () => {
    await webhooks.reset();
    accountId = await webhooks.account();
    one = await webhooks.endpoint(accountId);
    two = await webhooks.endpoint(accountId);
  });
  afterAll(() => webhooks.close());

  const send = (endpoints: readonly string[], state: Partial<MessageState> = {}) =>
    webhooks.send(accountId, endpoints, state);
  const replay = (endpoint: string, terms: Partial<typeof ALWAYS> = {}, by = accountId, gone = waiting()) =>
    webhooks.deliveries.replay(by, endpoint, { ...ALWAYS, ...terms }, gone);
  const retry = ({ id }: Message, targets: readonly string[]) =>
    webhooks.onlyWith(accountId, targets, () =>
      webhooks.process.messages.change(accountId, id, (message) => message.retry(SENT_AT)),
    );
  const retryAll = (targets: readonly string[]) =>
    webhooks.onlyWith(accountId, targets, () =>
      webhooks.process.messages.retryFailed(accountId, { type: null, ...ALWAYS }, 10),
    );
  /** The endpoints to which a delivery may be made, after which it is under way. */
  const reached = async () => (await webhooks.lease([one, two])).map(({ endpointId }) => endpointId);
  /** A message whose delivery to the first endpoint has used up some attempts, and which the second has got. */
  const missedByOne = async () => {
    const message = await send([one, two]);
    await webhooks.make(two, 'delivered');
    for (const outcome of ['retried', 'retried', 'failed'] as const) await webhooks.make(one, outcome);
    return message;
  };

  it('are listed for that endpoint and its account alone', async () => {
    const message = await missedByOne();
    expect(await webhooks.missed(accountId, one)).toEqual([message.id]);
    expect(await webhooks.missed(accountId, two)).toEqual([]);
    expect(await webhooks.missed(await webhooks.account(), one)).toEqual([]);
    await webhooks.store.sql(`UPDATE sluice.messages SET status = 'cancelled'`);
    expect(await webhooks.missed(accountId, one)).toEqual([]);
  });

  describe('are replayed', () => {
    it('to it alone, with all attempts again', async () => {
      const message = await missedByOne();
      expect(await replay(one)).toBe(1);
      expect(webhooks.announced).toContainEqual(['webhooks']);
      expect(await webhooks.see(message)).toMatchObject({ status: 'queued', failureReason: null });
      const leased = await webhooks.leaseOne(one);
      expect(leased.failures).toBe(0);
      expect(await webhooks.lease([two])).toEqual([]);
      await webhooks.deliveries.settle(resultOf(leased, 'delivered'));
      expect(await webhooks.see(message)).toMatchObject({ status: 'delivered', attempts: 5 });
      expect(await webhooks.missed(accountId, one)).toEqual([]);
      expect(await replay(one)).toBe(0);
    });

    it('once, however often and by how many at once', async () => {
      await missedByOne();
      const elsewhere = webhooks.other.replay(accountId, one, ALWAYS, waiting());
      const counts = await Promise.all([replay(one), elsewhere, replay(one)]);
      expect(counts.toSorted((a, b) => a - b)).toEqual([0, 0, 1]);
      expect(await reached()).toEqual([one]);
    });

    it('for nobody but their account', async () => {
      await missedByOne();
      const before = await webhooks.everything();
      expect(await replay(one, {}, await webhooks.account())).toBe(0);
      expect(await webhooks.everything()).toEqual(before);
    });

    it.each([
      ['queued', 'queued'],
      ['processing', 'processing'],
    ] as const)('beside others, if they are %s, which the message waits for', async (_what, status) => {
      const message = await send([one]);
      const leased = status === 'processing' ? await webhooks.leaseOne(one) : null;
      expect(await replay(two)).toBe(1);
      await webhooks.deliveries.settle(resultOf(leased ?? (await webhooks.leaseOne(one)), 'delivered'));
      expect((await webhooks.see(message)).status).toBe('processing');
      await webhooks.make(two, 'delivered');
      expect((await webhooks.see(message)).status).toBe('delivered');
    });

    it.each(['delivered', 'retried', 'failed'] as const)(
      'of a delivered message, which stays so when that is %s',
      async (outcome) => {
        const message = await send([one]);
        await webhooks.make(one, 'delivered');
        expect(await replay(two)).toBe(1);
        expect((await webhooks.see(message)).status).toBe('delivered');
        const leased = await webhooks.leaseOne(two);
        expect((await webhooks.see(message)).status).toBe('delivered');
        await webhooks.deliveries.settle(resultOf(leased, outcome));
        const seen = { status: 'delivered', attempts: 2, failureReason: null, made: ['delivered', outcome] };
        expect(await webhooks.see(message)).toEqual(seen);
        expect(await webhooks.lease([two])).toHaveLength(outcome === 'retried' ? 1 : 0);
      },
    );

    it('not if they are cancelled, on their way, or of another delivery mode', async () => {
      const cancelled = await send([one]);
      await webhooks.store.sql(`UPDATE sluice.messages SET status = 'cancelled' WHERE id = $1`, [cancelled.id]);
      await send([two]);
      await send([], { delivery: 'pull' });
      await send([], { delivery: 'handler' });
      expect(await replay(two)).toBe(0);
      const dropped = await webhooks.lease([two]);
      expect(dropped).toHaveLength(1);
      expect(await replay(two)).toBe(0);
    });

    it('not if they are cancelled just then', async () => {
      const { id } = await send([one]);
      const cancelling = await webhooks.store.transaction(
        `UPDATE sluice.messages SET status = 'cancelled' WHERE id = $1`,
        [id],
      );
      const replayed = replay(two);
      await webhooks.store.somebodyWaits();
      await cancelling.query('COMMIT');
      expect(await replayed).toBe(0);
    });

    it('when their time has come', async () => {
      const deliverAt = new Date(Date.now() + 60_000);
      await send([one], { deliverAt });
      expect(await replay(two)).toBe(1);
      expect(await webhooks.lease([two])).toEqual([]);
      expect(await webhooks.store.sql('SELECT due_at FROM sluice.endpoint_deliveries')).toEqual([
        { due_at: deliverAt },
        { due_at: deliverAt },
      ]);
    });

    it('at a rate, beginning at once', async () => {
      for (let count = 0; count < 5; count++) await send([one]);
      expect(await replay(two, { perSecond: 2 })).toBe(5);
      const rows = await webhooks.store.sql<{ wait: number }>(
        `SELECT round(extract(epoch FROM due_at - min(due_at) OVER ()))::int AS wait
         FROM sluice.endpoint_deliveries WHERE endpoint_id = $1 ORDER BY message_id`,
        [two],
      );
      expect(rows.map(({ wait }) => wait)).toEqual([0, 0, 1, 1, 2]);
      // However long it takes until then.
      await webhooks.store.sql(
        `UPDATE sluice.endpoint_deliveries SET due_at = due_at + interval '1 hour'
         WHERE due_at > (SELECT min(due_at) FROM sluice.endpoint_deliveries WHERE endpoint_id = $1) + interval '0.9 s'`,
        [two],
      );
      expect((await webhooks.lease([two])).length).toBe(2);
    });

    it('from since on and before until, and no more when the client is gone', async () => {
      const ids = [0, 1, 2].map((ms) => `${lowestId('msg', after(ms)).slice(0, -1)}1`);
      for (const [ms, id] of ids.entries()) await send([one], { id, createdAt: after(ms) });
      const gone = new AbortController();
      gone.abort();
      expect(await replay(two, {}, accountId, gone.signal)).toBe(0);
      expect(await replay(two, { max: 0 })).toBe(0);
      expect(await replay(two, { since: after(1), until: after(2) })).toBe(1);
      expect((await webhooks.leaseOne(two)).messageId).toBe(ids[1]);
    });
  });

  describe.each([
    ['by id', async (message: Message, targets: string[]) => void (await retry(message, targets))],
    ['by time', async (_message: Message, targets: string[]) => void (await retryAll(targets))],
  ])('and whose message is retried %s', (_how, again) => {
    it('are made to the endpoints that have not got it, with all attempts again', async () => {
      const message = await missedByOne();
      await again(message, [one, two]);
      expect(await webhooks.see(message)).toMatchObject({ status: 'queued', attempts: 4, failureReason: null });
      const leased = await webhooks.lease([one, two]);
      expect(leased).toMatchObject([{ endpointId: one, failures: 0 }]);
    });

    it('are made to endpoints that are new', async () => {
      const message = await missedByOne();
      const third = await webhooks.endpoint(accountId);
      await again(message, [third]);
      await webhooks.make(third, 'delivered');
      // The first, which is not a target any more, no longer counts.
      expect(await webhooks.see(message)).toMatchObject({ status: 'delivered', failureReason: null });
      expect(await webhooks.missed(accountId, one)).toEqual([message.id]);
    });

    it('leave it delivered when all that are left have got it', async () => {
      const message = await missedByOne();
      await again(message, [two]);
      expect(await webhooks.see(message)).toMatchObject({ status: 'delivered', failureReason: null });
      expect(await reached()).toEqual([]);
    });

    it('leave it failed when there is no endpoint and none has got it', async () => {
      const message = await send([one]);
      await webhooks.make(one, 'failed');
      await again(message, []);
      expect(await webhooks.see(message)).toMatchObject({ status: 'failed', failureReason: 'no_endpoint' });
      expect(await reached()).toEqual([]);
    });
  });

  describe('because it is no longer enabled', () => {
    const abandon = (endpoint: string) => webhooks.deliveries.abandon(endpoint, 'endpoint_disabled', '');

    it('end, and fail the message if no other has it', async () => {
      const [alone, beside] = [await send([one]), await send([one, two])];
      await webhooks.make(two, 'delivered');
      await webhooks.enable(one, false);
      expect(await abandon(one)).toEqual({ abandoned: 2, areMade: false, last: null });
      const failureReason = `${one}: endpoint_disabled`;
      expect(await webhooks.see(alone)).toEqual({ status: 'failed', attempts: 0, failureReason, made: [] });
      expect(await webhooks.see(beside)).toMatchObject({ status: 'delivered', failureReason: null });
      expect(await webhooks.missed(accountId, one)).toEqual([beside.id, alone.id].sort().toReversed());
      expect(await reached()).toEqual([]);
    });

    it('end only when it is not enabled again', async () => {
      await send([one]);
      const before = await webhooks.everything();
      expect(await abandon(one)).toEqual({ abandoned: 0, areMade: false, last: null });
      expect(await webhooks.everything()).toEqual(before);
    });

    it('end also when they are not due yet, and for this endpoint only', async () => {
      const message = await send([one, two], { deliverAt: new Date(Date.now() + 60_000) });
      await webhooks.enable(one, false);
      expect(await abandon(one)).toEqual({ abandoned: 1, areMade: false, last: null });
      expect(await abandon(two)).toEqual({ abandoned: 0, areMade: false, last: null });
      expect((await webhooks.see(message)).status).toBe('queued');
    });

    it('are left to the worker that makes them, unless it is lost', async () => {
      const message = await send([one]);
      await webhooks.leaseOne(one);
      await webhooks.enable(one, false);
      expect(await abandon(one)).toEqual({ abandoned: 0, areMade: true, last: null });
      await webhooks.expire(one);
      expect(await abandon(one)).toEqual({ abandoned: 1, areMade: false, last: null });
      expect(await webhooks.see(message)).toMatchObject({ status: 'failed', made: ['lost'] });
    });

    it('are no longer settled by a worker that was too late', async () => {
      await send([one]);
      const late = await webhooks.leaseOne(one);
      await webhooks.enable(one, false);
      await webhooks.expire(one);
      await abandon(one);
      const before = await webhooks.everything();
      await webhooks.deliveries.settle(resultOf(late, 'delivered'));
      expect(await webhooks.everything()).toEqual(before);
    });
  });
});
