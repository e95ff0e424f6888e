import type { Message } from '#messages/domain/message.js';
import { WebhookStore } from '../webhook-store.js';
import { WAYS, type Begun, type End, type Way } from './ways.js';

const cancelled = (message: Message) => message.cancel(new Date());
const retried = (message: Message) => message.retry(new Date());

describe.each(Object.keys(WAYS) as (keyof typeof WAYS)[])('Messages with an ordering key, for %s', (mode) => {
  let webhooks: WebhookStore;
  let way: Way;
  beforeAll(async () => {
    webhooks = await WebhookStore.open();
  });
  beforeEach(async () => {
    await webhooks.reset();
    way = await WAYS[mode](webhooks);
  });
  afterAll(() => webhooks.close());

  const add = async (...messages: Message[]) => {
    await way.process.messages.add(messages, null);
    return messages.map(({ id }) => id);
  };
  /** Sends messages with a key, one after another. */
  const send = async (count: number, key: string | null = 'key', state: Partial<Message['state']> = {}) => {
    const ids: string[] = [];
    for (let n = 0; n < count; n++) ids.push(...(await add(way.aMessage(key, state))));
    return ids;
  };
  const change = (id: string | undefined, transition: (message: Message) => Message) =>
    way.process.messages.change(way.accountId, id ?? '', transition);
  /** Begins what may begin; the messages, each once, if all targets agree. */
  const begin = async (): Promise<[string[], Begun[]]> => {
    const begun = await way.begin();
    const ids = new Set(begun.map(({ id }) => id));
    expect(begun).toHaveLength(ids.size * way.targets.length);
    return [[...ids], begun];
  };
  const end = async (begun: readonly Begun[], how: End) => {
    for (const one of begun) await way.end(one, how);
  };
  /** Delivers all that may be delivered, one after another; in which order. */
  const deliverAll = async () => {
    const order: string[] = [];
    for (;;) {
      const [ids, begun] = await begin();
      if (ids.length === 0) return order;
      order.push(...ids);
      await end(begun, 'delivered');
    }
  };
  const beginsOne = async (id: string | undefined) => {
    const [ids, begun] = await begin();
    expect(ids).toEqual([id]);
    return begun;
  };
  const beginsNothing = async () => {
    expect(await way.begin()).toEqual([]);
  };

  afterEach(async () => {
    // Whatever a test has left open is delivered, and leaves nothing behind.
    await deliverAll();
    expect(await way.store.sql('SELECT * FROM sluice.ordered_deliveries')).toEqual([]);
  });

  it('begin one after another, in the order in which they were accepted, whatever their ids', async () => {
    const ids = await send(3);
    const [early] = await add(way.aMessage('key', { id: 'msg_00000000000000000000000000' }));
    for (const id of [...ids, early]) {
      const begun = await beginsOne(id);
      await beginsNothing();
      await end(begun, 'delivered');
    }
  });

  it('begin in the order of their batch', async () => {
    const batch = Array.from({ length: 20 }, () => way.aMessage('key')).reverse();
    expect(await deliverAll()).toEqual([]);
    await add(...batch);
    expect(await deliverAll()).toEqual(batch.map(({ id }) => id));
  });

  it('wait neither for another key nor for none, nor do those wait for them', async () => {
    const [first] = await send(2);
    const [other] = await send(2, 'another key');
    const free = await send(2, null);
    const [ids, begun] = await begin();
    expect(ids.sort()).toEqual([first, other, ...free].sort());
    await end(begun, 'delivered');
  });

  it('get no place without a key', async () => {
    await send(2, null);
    expect(await way.store.sql('SELECT * FROM sluice.ordered_deliveries')).toEqual([]);
    expect(await way.store.sql('SELECT FROM sluice.messages WHERE position IS NOT NULL')).toEqual([]);
  });

  it.each(['retried', 'lost'] as const)('wait until one is final whose attempt was %s', async (how) => {
    const [first, second] = await send(2);
    const begun = await beginsOne(first);
    for (const one of begun) await (how === 'lost' ? way.lose(one) : way.end(one, how));
    await end(await beginsOne(first), 'delivered');
    await end(await beginsOne(second), 'delivered');
  });

  it('wait for a scheduled one', async () => {
    const [first] = await send(1, 'key', { deliverAt: new Date(Date.now() + 60_000) });
    const rest = await send(2);
    await beginsNothing();
    await change(first, cancelled);
    expect(await deliverAll()).toEqual(rest);
  });

  it('wait for their own time when they are released', async () => {
    const [first] = await send(1);
    const [later] = await send(1, 'key', { deliverAt: new Date(Date.now() + 60_000) });
    const [last] = await send(1);
    await end(await beginsOne(first), 'delivered');
    await beginsNothing();
    await change(later, cancelled);
    await end(await beginsOne(last), 'delivered');
  });

  it('pass one that has failed', async () => {
    const [first, second] = await send(2);
    await end(await beginsOne(first), 'failed');
    await end(await beginsOne(second), 'delivered');
  });

  it('pass one that is cancelled, wherever it stands', async () => {
    const ids = await send(4);
    const begun = await beginsOne(ids[0]);
    await change(ids[1], cancelled);
    await beginsNothing();
    await end(begun, 'delivered');
    await change(ids[2], cancelled);
    expect(await deliverAll()).toEqual([ids[3]]);
  });

  it('begin after a retried one if they have not begun', async () => {
    const [first, second, third] = await send(3);
    await end(await beginsOne(first), 'failed');
    await change(first, retried);
    const begun = await beginsOne(first);
    await beginsNothing();
    await end(begun, 'delivered');
    expect(await deliverAll()).toEqual([second, third]);
  });

  it.each(['running', 'waiting for its next attempt'] as const)(
    'keep a retried one waiting while one is %s',
    async (what) => {
      const [first, second, third] = await send(3);
      await end(await beginsOne(first), 'failed');
      let begun = await beginsOne(second);
      if (what !== 'running') await end(begun, 'retried');
      await change(first, retried);
      if (what !== 'running') begun = await beginsOne(second);
      await beginsNothing();
      await end(begun, 'delivered');
      expect(await deliverAll()).toEqual([first, third]);
    },
  );

  it('take their places in the old order when many are retried at once', async () => {
    const ids = await send(6);
    for (const id of ids.slice(0, 4)) await end(await beginsOne(id), 'failed');
    await way.process.messages.retryFailed(way.accountId, { type: null, since: null, until: null }, 100);
    expect(await deliverAll()).toEqual(ids);
  });

  it('are stored once when a batch with a key is repeated', async () => {
    const batch = [way.aMessage('key'), way.aMessage('key')];
    const idempotency = { key: 'once', fingerprint: Buffer.alloc(32) };
    const { messages } = way.process;
    const again = batch.map(({ state }) => way.aMessage('key', { text: state.text }));
    const results = await Promise.all([messages.add(batch, idempotency), messages.add(again, idempotency)]);
    expect(results.map(({ messages: [first] }) => first?.id)).toEqual([batch[0]?.id, batch[0]?.id]);
    expect(await deliverAll()).toEqual(batch.map(({ id }) => id));
  });

  it('keep their order when two processes send batches with the same keys in opposite order', async () => {
    const other = await way.store.process();
    const keys = Array.from({ length: 10 }, (_, index) => `key ${index}`);
    const sent = Array.from({ length: 20 }, (_, round) => {
      const inOrder = round % 2 === 0 ? keys : keys.toReversed();
      return { by: round % 2 === 0 ? way.process : other, batch: inOrder.map((key) => way.aMessage(key)) };
    });
    await Promise.all(sent.map(({ by, batch }) => by.messages.add(batch, null)));
    expect([...way.process.faults, ...other.faults]).toEqual([]);
    const positions = await way.store.sql<{ id: string; ordering_key: string }>(
      'SELECT id, ordering_key FROM sluice.messages ORDER BY position',
    );
    const order = await deliverAll();
    for (const key of keys) {
      const ids = positions.filter((row) => row.ordering_key === key).map(({ id }) => id);
      expect(order.filter((id) => ids.includes(id))).toEqual(ids);
    }
  });

  it('are accepted with more keys at once than are locked one by one', async () => {
    const batch = Array.from({ length: 250 }, (_, index) => way.aMessage(`key ${index % 125}`));
    await add(...batch);
    expect((await deliverAll()).sort()).toEqual(batch.map(({ id }) => id).sort());
  });
});
