import type { DeliveryMode } from '#kernel/delivery-mode.js';
import type { Message } from '#messages/domain/message.js';
import { WebhookStore } from '../webhook-store.js';
import { WAYS, type Begun, type Way } from './ways.js';

const MODES = Object.keys(WAYS) as DeliveryMode[];
const CHANGES = MODES.flatMap((from) => MODES.filter((to) => to !== from).map((to) => [from, to] as const));

describe('After a change of the delivery mode, messages with an ordering key', () => {
  let webhooks: WebhookStore;
  let ways: Record<DeliveryMode, Way>;
  beforeAll(async () => {
    webhooks = await WebhookStore.open();
  });
  beforeEach(async () => {
    await webhooks.reset();
    const accountId = await webhooks.account();
    ways = {
      handler: await WAYS.handler(webhooks, accountId),
      pull: await WAYS.pull(webhooks, accountId),
      webhooks: await WAYS.webhooks(webhooks, accountId),
    };
  });
  afterAll(() => webhooks.close());

  const change = (to: DeliveryMode) =>
    webhooks.store.sql('UPDATE sluice.accounts SET delivery = $2 WHERE id = $1', [ways.pull.accountId, to]);
  /** Sends messages with the key, in modes of their own. */
  const send = async (...modes: readonly DeliveryMode[]) => {
    const sent: Message[] = [];
    for (const mode of modes) {
      await change(mode);
      const message = ways[mode].aMessage('key');
      await webhooks.process.messages.add([message], null);
      sent.push(message);
    }
    return sent;
  };
  /** Begins all that may begin, in any mode. */
  const begin = async () => {
    const begun: (Begun & { readonly mode: DeliveryMode })[] = [];
    for (const mode of MODES) begun.push(...(await ways[mode].begin()).map((one) => ({ ...one, mode })));
    return begun;
  };
  /** The messages in the order in which they are delivered. */
  const deliverAll = async () => {
    const order: string[] = [];
    for (let begun = await begin(); begun.length > 0; begun = await begin()) {
      const [id = '', ...others] = new Set(begun.map((one) => one.id));
      expect(others).toEqual([]);
      order.push(id);
      expect(await begin()).toEqual([]);
      for (const one of begun) await ways[one.mode].end(one, 'delivered');
    }
    return order;
  };
  const idsOf = (messages: readonly Message[]) => messages.map(({ id }) => id);
  const nothingIsLeft = async () => {
    expect(await webhooks.store.sql('SELECT * FROM sluice.ordered_deliveries')).toEqual([]);
  };

  it.each(CHANGES)('wait for those that were accepted before, from %s to %s and back', async (from, to) => {
    const sent = await send(from, from, to, to, from, to);
    expect(await deliverAll()).toEqual(idsOf(sent));
    await nothingIsLeft();
  });

  it('wait through all modes', async () => {
    const sent = await send('handler', 'webhooks', 'pull', 'webhooks', 'handler', 'pull');
    expect(await deliverAll()).toEqual(idsOf(sent));
    await nothingIsLeft();
  });

  it.each(CHANGES)('still wait when one of them is cancelled, from %s to %s', async (from, to) => {
    const sent = await send(from, to, to);
    const [first, second, third] = idsOf(sent);
    await webhooks.process.messages.change(ways.pull.accountId, second ?? '', (one) => one.cancel(new Date()));
    expect(await deliverAll()).toEqual([first, third]);
    await nothingIsLeft();
  });

  it.each(CHANGES)(
    'go on when the one before is cancelled, and are not healed before, from %s to %s',
    async (from, to) => {
      const [first, second] = idsOf(await send(from, to));
      const stuck = await webhooks.store.sql<{ is_stuck: boolean }>(
        `SELECT is_stuck FROM sluice.inspect_lines('', '', 100)`,
      );
      expect(stuck.filter(({ is_stuck }) => is_stuck)).toEqual([]);
      await webhooks.process.messages.change(ways.pull.accountId, first ?? '', (one) => one.cancel(new Date()));
      expect(await deliverAll()).toEqual([second]);
      await nothingIsLeft();
    },
  );

  it('wait for every endpoint of those before', async () => {
    await send('webhooks', 'handler');
    const [one, two] = await begin();
    if (one !== undefined) await ways.webhooks.end(one, 'delivered');
    expect(await begin()).toEqual([]);
    if (two !== undefined) await ways.webhooks.end(two, 'failed');
    expect((await begin()).map(({ mode }) => mode)).toEqual(['handler']);
  });

  it('of other keys do not wait', async () => {
    await send('handler');
    await change('pull');
    await webhooks.process.messages.add([ways.pull.aMessage('other'), ways.pull.aMessage(null)], null);
    expect(await begin()).toHaveLength(3);
  });
});
