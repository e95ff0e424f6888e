import { PostgresEndpoints } from '#webhooks/adapters/postgres/postgres-endpoints.js';
import { EndDeliveries } from '#webhooks/application/end-deliveries.js';
import type { LeasedDelivery } from '#webhooks/application/endpoint-deliveries.js';
import type { Message, MessageState } from '#messages/domain/message.js';
import { aMessage } from '../support/messages.js';
import { resultOf, WebhookStore } from './webhook-store.js';

const HOUR_MS = 3_600_000;

describe('Deliveries whose endpoint is changed while they wait', () => {
  let webhooks: WebhookStore;
  let endings: EndDeliveries;
  let accountId: string;
  let one: string;
  const failed = jest.fn();
  beforeAll(async () => {
    webhooks = await WebhookStore.open();
    endings = new EndDeliveries(await PostgresEndpoints.open(webhooks.process.database), webhooks.deliveries, {
      failed,
    });
  });
  beforeEach(async () => {
    await webhooks.reset();
    accountId = await webhooks.account();
    one = await webhooks.endpoint(accountId);
  });
  afterEach(() => {
    expect(failed).not.toHaveBeenCalled();
  });
  afterAll(() => webhooks.close());

  const run = () => endings.run(new AbortController().signal);
  const send = (state: Partial<MessageState> = {}) => webhooks.send(accountId, [one], state);
  const outcome = async (message: Message) => {
    const { status, failureReason } = await webhooks.see(message);
    return failureReason ?? status;
  };
  const leased = async () => new Set((await webhooks.lease([one])).map(({ messageId }) => messageId));
  const noted = () => webhooks.store.sql<{ reason: string }>('SELECT id, reason FROM sluice.ended_endpoints');
  const settle = () => webhooks.store.sql(`UPDATE sluice.ended_endpoints SET noted_at = now() - interval '1 minute'`);
  const remove = () => webhooks.store.sql('DELETE FROM sluice.endpoints WHERE id = $1', [one]);

  type Change = readonly string[] | 'disable' | 'enable' | 'delete';
  const change = async (what: Change) => {
    if (what === 'delete') await remove();
    else if (what === 'disable' || what === 'enable') await webhooks.enable(one, what === 'enable');
    else await webhooks.choose(one, what);
  };

  it.each<[string, string | null, readonly string[], readonly Change[], string]>([
    ['narrowed', 'order.paid', [], [['user.*']], 'endpoint_types_changed'],
    ['narrowed, of no type', null, [], [['user.*']], 'endpoint_types_changed'],
    ['narrowed by one', 'order.paid', ['order.*', 'user.*'], [['user.*']], 'endpoint_types_changed'],
    ['narrowed to a type', 'order.paid', ['order.*'], [['order.paid']], 'queued'],
    ['narrowed to another type', 'order.paid', ['order.*'], [['order.paid.eu']], 'endpoint_types_changed'],
    ['widened', 'order.paid', ['order.*'], [['order.*', 'user.*']], 'queued'],
    ['removed', 'order.paid', ['order.*'], [[]], 'queued'],
    ['removed, of an operational event', 'sluice.message.failed', ['sluice.*'], [[]], 'endpoint_types_changed'],
    ['changed and changed back', 'order.paid', ['order.*'], [['user.*'], ['order.*']], 'queued'],
    ['changed twice', 'order.paid', [], [['user.*'], ['invoice.*']], 'endpoint_types_changed'],
    ['disabled', 'order.paid', [], ['disable'], 'endpoint_disabled'],
    ['disabled, and changed', 'order.paid', [], ['disable', ['user.*']], 'endpoint_disabled'],
    ['disabled, changed and enabled', 'order.paid', [], ['disable', ['user.*'], 'enable'], 'endpoint_types_changed'],
    ['changed, disabled and enabled', 'order.paid', [], [['user.*'], 'disable', 'enable'], 'endpoint_types_changed'],
    ['changed and disabled', 'order.paid', [], [['user.*'], 'disable'], 'endpoint_disabled'],
    ['disabled and enabled', 'order.paid', ['order.*'], ['disable', 'enable'], 'queued'],
    ['disabled, changed and deleted', 'order.paid', [], ['disable', ['user.*'], 'delete'], 'endpoint_deleted'],
    ['changed and deleted', 'order.paid', [], [['user.*'], 'delete'], 'endpoint_deleted'],
  ])('end if it no longer wants them: %s', async (_what, type, types, changes, expected) => {
    await webhooks.choose(one, types);
    const waiting = [
      await send({ type, orderingKey: 'key' }),
      await send({ type }),
      await send({ type, orderingKey: 'key' }),
    ];
    for (const what of changes) await change(what);
    await run();
    const wanted = expected === 'queued' ? expected : `${one}: ${expected}`;
    expect(await Promise.all(waiting.map(outcome))).toEqual(waiting.map(() => wanted));
    // What is left may be made: of a key, only the first.
    expect(await leased()).toEqual(new Set(expected === 'queued' ? [waiting[0]?.id, waiting[1]?.id] : []));
    await settle();
    await run();
    expect(await noted()).toEqual([]);
  });

  it('are looked for as often when the installation is quiet, until none is left', async () => {
    const intervals: number[] = [];
    const look = async () => {
      await run();
      intervals.push(endings.quietIntervalMs);
    };
    await look();
    await webhooks.enable(one, false);
    await look();
    await settle();
    await look();
    await look();
    expect(intervals).toEqual([60_000, 1_000, 1_000, 60_000]);
  });

  const HEADS = {
    'waits for a place': (): Promise<unknown> => Promise.resolve(),
    'waits for deliverAt': () => Promise.resolve(),
    'waits for its next attempt': async () => {
      await webhooks.deliveries.settle(resultOf(await webhooks.leaseOne(one), 'retried', HOUR_MS));
    },
    'was leased by a worker that is lost': async () => {
      await webhooks.leaseOne(one);
      await webhooks.expire(one);
    },
  };

  it.each(
    (Object.keys(HEADS) as (keyof typeof HEADS)[]).flatMap((head) => [[head, 'key'] as const, [head, null] as const]),
  )('end when the first one %s, with the ordering key %s', async (head, orderingKey) => {
    const deliverAt = head === 'waits for deliverAt' ? new Date(Date.now() + HOUR_MS) : null;
    const first = await send({ type: 'order.paid', orderingKey, deliverAt });
    await HEADS[head]();
    const second = await send({ type: 'user.new', orderingKey });
    const third = await send({ type: 'order.paid', orderingKey });
    const fourth = await send({ type: 'user.new', orderingKey });
    await webhooks.choose(one, ['user.*']);
    webhooks.announced.length = 0;
    await run();
    expect(await outcome(first)).toBe(`${one}: endpoint_types_changed`);
    expect(await outcome(third)).toBe(`${one}: endpoint_types_changed`);
    expect(webhooks.announced.flat()).toEqual(orderingKey === null ? [] : ['webhooks']);
    expect(await leased()).toEqual(new Set(orderingKey === null ? [second.id, fourth.id] : [second.id]));
    expect(new Set(await webhooks.missed(accountId, one))).toEqual(new Set([third.id, first.id]));
  });

  it.each<[string, (delivery: LeasedDelivery) => Promise<unknown>, string]>([
    ['succeeds', (delivery) => webhooks.deliveries.settle(resultOf(delivery, 'delivered')), 'delivered'],
    ['fails', (delivery) => webhooks.deliveries.settle(resultOf(delivery, 'failed')), 'refused'],
    [
      'would be repeated',
      (delivery) => webhooks.deliveries.settle(resultOf(delivery, 'retried', HOUR_MS)),
      'endpoint_types_changed',
    ],
    ['is lost', () => webhooks.expire(one), 'endpoint_types_changed'],
  ])('are left to the worker that makes them, until the attempt %s', async (_what, end, expected) => {
    const first = await send({ type: 'order.paid', orderingKey: 'key' });
    const delivery = await webhooks.leaseOne(one);
    const second = await send({ type: 'user.new', orderingKey: 'key' });
    await webhooks.choose(one, ['user.*']);
    await settle();
    await run();
    expect([await outcome(first), await leased()]).toEqual(['processing', new Set()]);
    expect(await noted()).toHaveLength(1);
    await end(delivery);
    await run();
    expect(await outcome(first)).toBe(expected === 'delivered' ? expected : `${one}: ${expected}`);
    expect(await leased()).toEqual(new Set([second.id]));
    expect(await noted()).toEqual([]);
  });

  it.each([
    [
      'begun',
      `UPDATE sluice.endpoint_deliveries SET token = gen_random_uuid(), number = 1, started_at = now(),
         due_at = now() + interval '1 minute'`,
    ],
    ['ended', `UPDATE sluice.endpoint_deliveries SET due_at = NULL`],
    ['become wanted again', `UPDATE sluice.endpoints SET types = '{}'`],
  ])('are left alone if they have %s just then', async (_what, meanwhile) => {
    const message = await send({ type: 'order.paid' });
    await webhooks.choose(one, ['user.*']);
    const locked = await webhooks.store.transaction('SELECT FROM sluice.messages WHERE id = $1 FOR UPDATE', [
      message.id,
    ]);
    const ending = run();
    await webhooks.store.somebodyWaits();
    await locked.query(meanwhile);
    await locked.query('COMMIT');
    await ending;
    expect(await webhooks.store.sql('SELECT abandoned FROM sluice.endpoint_deliveries')).toEqual([{ abandoned: null }]);
  });

  it('do not count if their last attempt fails after the change, and another endpoint has the message', async () => {
    const other = await webhooks.endpoint(accountId);
    const message = await webhooks.send(accountId, [one, other], { type: 'order.paid' });
    const delivery = await webhooks.leaseOne(one);
    await webhooks.choose(one, ['user.*']);
    await webhooks.deliveries.settle(resultOf(delivery, 'failed'));
    await webhooks.choose(one, []);
    await webhooks.make(other, 'delivered');
    expect(await outcome(message)).toBe('delivered');
  });

  it('end also if they were stored by a statement that began before the change', async () => {
    await send({ type: 'user.new' });
    await webhooks.choose(one, ['user.*']);
    await run();
    const late = await send({ type: 'user.new', deliverAt: new Date(Date.now() + HOUR_MS) });
    await webhooks.store.sql(`UPDATE sluice.messages SET type = 'order.paid' WHERE id = $1`, [late.id]);
    await run();
    expect(await outcome(late)).toBe(`${one}: endpoint_types_changed`);
  });

  it('end again if it is changed again meanwhile', async () => {
    const message = await send({ type: 'order.paid' });
    await webhooks.choose(one, ['order.*']);
    await settle();
    const { deliveries } = webhooks;
    const abandon = jest.spyOn(deliveries, 'abandon').mockImplementationOnce(async (...step) => {
      const done = await deliveries.abandon(...step);
      await webhooks.choose(one, ['user.*']);
      await settle();
      return done;
    });
    await run();
    abandon.mockRestore();
    expect([await outcome(message), await noted()]).toEqual([
      'queued',
      [{ id: one, reason: 'endpoint_types_changed' }],
    ]);
    await run();
    expect(await outcome(message)).toBe(`${one}: endpoint_types_changed`);
  });

  it('end in steps, whatever their number and however few of them', async () => {
    const types = Array.from({ length: 1_200 }, (_, n) => (n % 400 === 399 ? 'order.paid' : 'user.new'));
    const messages = types.map((type) => aMessage({ accountId, delivery: 'webhooks', type }));
    await webhooks.process.messages.add(messages, null);
    await webhooks.choose(one, ['user.*']);
    const abandon = jest.spyOn(webhooks.deliveries, 'abandon');
    await run();
    expect(abandon).toHaveBeenCalledTimes(3);
    abandon.mockRestore();
    const left = await webhooks.store.sql(
      'SELECT type, count(*)::int FROM sluice.endpoint_deliveries JOIN sluice.messages ON id = message_id WHERE due_at IS NOT NULL GROUP BY type',
    );
    expect(left).toEqual([{ type: 'user.new', count: 1_197 }]);
  });

  it('of another endpoint are not looked at', async () => {
    const other = await webhooks.endpoint(accountId);
    const message = await webhooks.send(accountId, [one, other], { type: 'order.paid' });
    await webhooks.choose(one, ['user.*']);
    await run();
    expect(await outcome(message)).toBe('queued');
    await webhooks.make(other, 'delivered');
    expect(await outcome(message)).toBe('delivered');
  });
});
