import type { Message, MessageState } from '#messages/domain/message.js';
import { aClaim, aMessage, FIRST_PAGE } from '../support/messages.js';
import { resultOf, WebhookStore } from './webhook-store.js';

const MINUTE = 60_000;

describe('When the next attempt of a message is due, as its account sees it', () => {
  let webhooks: WebhookStore;
  let accountId: string;
  beforeAll(async () => {
    webhooks = await WebhookStore.open();
  });
  beforeEach(async () => {
    await webhooks.reset();
    accountId = await webhooks.account();
  });
  afterAll(() => webhooks.close());

  const inMinutes = (count: number) => new Date(Date.now() + count * MINUTE);

  /** In the message and in lists: in how many minutes, rounded; null if it is not shown. */
  async function shown({ id }: Pick<Message, 'id'>): Promise<number | null> {
    const { messages } = webhooks.process;
    const found = await messages.find(accountId, id);
    const { messages: listed } = await messages.list(accountId, FIRST_PAGE);
    const seen = listed.find((message) => message.id === id)?.state;
    expect(seen).toEqual(found?.state);
    const at = seen?.nextAttemptAt ?? null;
    return at === null ? null : Math.round((at.getTime() - Date.now()) / MINUTE);
  }

  const put = async (state: Partial<MessageState>) => {
    const message = aMessage({ accountId, ...state });
    await webhooks.store.put(message);
    return message;
  };

  it.each<[string, number | null, () => Partial<MessageState>]>([
    ['is new', null, () => ({})],
    ['is scheduled', 10, () => ({ deliverAt: inMinutes(10) })],
    ['was scheduled for a time that is over', null, () => ({ deliverAt: inMinutes(-10) })],
    ['waits after a failed attempt', 5, () => ({ attempts: 1, failures: 1, nextAttemptAt: inMinutes(5) })],
    [
      'waits after a failed attempt of its time',
      5,
      () => ({ attempts: 1, deliverAt: inMinutes(-10), nextAttemptAt: inMinutes(5) }),
    ],
    ['has waited', null, () => ({ attempts: 1, nextAttemptAt: inMinutes(-5) })],
    ['is being delivered', null, () => ({ status: 'processing', claim: aClaim(), deliverAt: inMinutes(5) })],
    ['was delivered', null, () => ({ status: 'delivered', nextAttemptAt: inMinutes(5) })],
    ['was cancelled', null, () => ({ status: 'cancelled', deliverAt: inMinutes(5) })],
    ['has failed', null, () => ({ status: 'failed', nextAttemptAt: inMinutes(5) })],
    ['may be leased', null, () => ({ delivery: 'pull' })],
    ['may be leased later', 10, () => ({ delivery: 'pull', deliverAt: inMinutes(10) })],
    [
      'is leased',
      null,
      () => ({ delivery: 'pull', status: 'processing', claim: aClaim({ expiresAt: inMinutes(10) }) }),
    ],
    ['for webhooks has no delivery left', null, () => ({ delivery: 'webhooks', status: 'failed' })],
  ])('of one that %s', async (_what, minutes, state) => {
    expect(await shown(await put(state()))).toBe(minutes);
  });

  it('of one whose attempt was given back with a delay', async () => {
    const message = await put({ delivery: 'pull' });
    await webhooks.store.sql(`UPDATE sluice.messages SET available_at = now() + interval '7 minutes' WHERE id = $1`, [
      message.id,
    ]);
    expect(await shown(message)).toBe(7);
  });

  it('of one that waits for no time', async () => {
    const message = await put({ delivery: 'pull' });
    await webhooks.store.sql(`UPDATE sluice.messages SET available_at = 'infinity' WHERE id = $1`, [message.id]);
    expect(await shown(message)).toBeNull();
  });

  it('of one for webhooks: the first of its endpoints that wait', async () => {
    const [one, two, three] = [
      await webhooks.endpoint(accountId),
      await webhooks.endpoint(accountId),
      await webhooks.endpoint(accountId),
    ];
    const message = await webhooks.send(accountId, [one, two, three], { deliverAt: inMinutes(10) });
    expect(await shown(message)).toBe(10);
    await webhooks.store.sql('UPDATE sluice.endpoint_deliveries SET due_at = now()');
    expect(await shown(message)).toBeNull();
    const settle = async (endpoint: string, outcome: 'retried' | 'failed' | 'delivered', minutes = 0) =>
      webhooks.deliveries.settle(resultOf(await webhooks.leaseOne(endpoint), outcome, minutes * MINUTE));
    await settle(one, 'retried', 30);
    expect(await shown(message)).toBeNull();
    await settle(two, 'retried', 20);
    const running = await webhooks.leaseOne(three);
    expect(await shown(message)).toBe(20);
    await webhooks.deliveries.settle(resultOf(running, 'failed', 0));
    expect(await shown(message)).toBe(20);
    await webhooks.store.sql('UPDATE sluice.endpoint_deliveries SET due_at = NULL WHERE endpoint_id = $1', [two]);
    expect(await shown(message)).toBe(30);
  });
});
