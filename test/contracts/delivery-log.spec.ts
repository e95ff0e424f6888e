import { PostgresDeliveryLog } from '#webhooks/adapters/postgres/postgres-delivery-log.js';
import type { DeliveryPage } from '#webhooks/application/delivery-log.js';
import type { Message } from '#messages/domain/message.js';
import { FIRST_PAGE } from '../support/messages.js';
import { resultOf, URL, WebhookStore } from './webhook-store.js';

const PAGE: DeliveryPage = { limit: 10, before: null, status: null };

describe('DeliveryLog', () => {
  let webhooks: WebhookStore;
  let log: PostgresDeliveryLog;
  let accountId: string;
  let one: string;
  let two: string;
  beforeAll(async () => {
    webhooks = await WebhookStore.open();
    log = new PostgresDeliveryLog(webhooks.process.reads);
  });
  beforeEach(async () => {
    await webhooks.reset();
    accountId = await webhooks.account();
    one = await webhooks.endpoint(accountId);
    two = await webhooks.endpoint(accountId);
  });
  afterAll(() => webhooks.close());

  const ofOne = async (page: Partial<DeliveryPage> = {}) => log.ofEndpoint(accountId, one, { ...PAGE, ...page });
  const ofMessage = async ({ id }: Message, by = accountId) => log.ofMessage(by, id);
  const listed = async (status: 'delivered' | 'failed' | null, by = accountId) =>
    (await webhooks.process.messages.list(by, { ...FIRST_PAGE, status, endpointId: one })).messages.map(({ id }) => id);

  const nothingYet = {
    ...{ attempts: 0, nextAttemptAt: null, lastAttemptAt: null, durationMs: null },
    ...{ responseStatus: null, responseBody: null, error: null },
  };
  const after = (attempts: number) => ({
    ...{ attempts, nextAttemptAt: null, lastAttemptAt: expect.any(Date) as Date },
    durationMs: expect.any(Number) as number,
  });

  it.each([
    ['waits', (): Promise<unknown> => Promise.resolve(), { status: 'pending', ...nothingYet }],
    [
      'is being made',
      (): Promise<unknown> => webhooks.leaseOne(one),
      { status: 'pending', ...nothingYet, attempts: 1 },
    ],
    [
      'waits for its next attempt',
      async () => {
        await webhooks.deliveries.settle({ ...resultOf(await webhooks.leaseOne(one), 'retried'), retryMs: 60_000 });
      },
      { status: 'pending', ...after(1), nextAttemptAt: expect.any(Date) as Date },
    ],
    [
      'was made at the second attempt',
      async () => {
        for (const outcome of ['retried', 'delivered'] as const) await webhooks.make(one, outcome);
      },
      { status: 'delivered', ...after(2) },
    ],
    ['has failed', () => webhooks.make(one, 'failed'), { status: 'failed', ...after(1) }],
    [
      'was abandoned with its endpoint',
      async () => {
        await webhooks.enable(one, false);
        await webhooks.abandon(one, 'endpoint_disabled');
      },
      { status: 'failed', ...nothingYet, error: 'endpoint_disabled' },
    ],
    [
      'is being made again after a worker was lost',
      async () => {
        await webhooks.leaseOne(one);
        await webhooks.expire(one);
        await webhooks.leaseOne(one);
      },
      { status: 'pending', ...after(2), durationMs: null, responseStatus: null, error: null },
    ],
    [
      'was abandoned after a worker was lost',
      async () => {
        await webhooks.leaseOne(one);
        await webhooks.expire(one);
        await webhooks.enable(one, false);
        await webhooks.abandon(one, 'endpoint_disabled');
      },
      { status: 'failed', ...after(1), durationMs: null, error: 'endpoint_disabled' },
    ],
  ] as const)('shows a delivery that %s, by endpoint and by message', async (_what, change, expected) => {
    const message = await webhooks.send(accountId, [one, two]);
    await change();
    await expectShown(message, expected);
    // As it was stored before its attempts were counted.
    await webhooks.store.sql(`UPDATE sluice.endpoint_deliveries SET attempts = NULL, last_number = NULL;
      UPDATE sluice.attempts SET of_target = NULL`);
    await expectShown(message, expected);
  });

  const expectShown = async (message: Message, expected: object) => {
    const delivery = { messageId: message.id, endpointId: one, ...expected };
    expect(await ofOne()).toMatchObject([delivery]);
    const [first, second] = [one, two].sort();
    const all = await ofMessage(message);
    expect(all?.map(({ endpointId }) => endpointId)).toEqual([first, second]);
    expect(all?.find(({ endpointId }) => endpointId === one)).toMatchObject({ ...delivery, url: URL, description: '' });
    expect(all?.find(({ endpointId }) => endpointId === two)).toMatchObject({ status: 'pending', ...nothingYet });
  };

  it('shows the attempts to each endpoint after a retry', async () => {
    const message = await webhooks.send(accountId, [one, two]);
    for (const [endpoint, outcomes] of [
      [one, ['retried', 'failed']],
      [two, ['retried', 'retried', 'delivered']],
    ] as const)
      for (const outcome of outcomes) await webhooks.make(endpoint, outcome);
    await webhooks.process.messages.retryFailed(accountId, { type: null, since: null, until: null }, 10);
    await webhooks.make(one, 'retried');
    const shown = await ofMessage(message);
    expect(
      new Map(shown?.map(({ endpointId, attempts, responseStatus }) => [endpointId, [attempts, responseStatus]])),
    ).toEqual(
      new Map([
        [one, [3, 500]],
        [two, [3, 200]],
      ]),
    );
  });

  it('lists what an endpoint got, gets and missed, newest first, alone and together, a page at a time', async () => {
    const made = new Map<string, string>();
    for (const outcome of ['delivered', 'failed', 'delivered', 'failed'] as const) {
      made.set((await webhooks.send(accountId, [one])).id, outcome);
      await webhooks.make(one, outcome);
    }
    made.set((await webhooks.send(accountId, [one])).id, 'pending');
    await webhooks.send(accountId, [two]);
    const expected = [...made].sort(([a], [b]) => (a < b ? 1 : -1));

    for (const status of [null, 'pending', 'delivered', 'failed'] as const) {
      const wanted = expected.filter(([, one]) => status === null || one === status);
      expect((await ofOne({ status })).map((found) => [found.messageId, found.status])).toEqual(wanted);
      const paged: string[] = [];
      for (let before: string | null = null; ; before = paged.at(-1) ?? null) {
        const page = await ofOne({ status, before, limit: 1 });
        expect(page.length).toBeLessThanOrEqual(2);
        if (page[0] !== undefined) paged.push(page[0].messageId);
        if (page.length < 2) break;
      }
      expect(paged).toEqual(wanted.map(([id]) => id));
      if (status !== 'pending') expect(await listed(status)).toEqual(wanted.map(([id]) => id));
    }
  });

  it('shows nothing of another account', async () => {
    const made: Message[] = [];
    for (const outcome of ['delivered', 'failed'] as const) {
      made.push(await webhooks.send(accountId, [one]));
      await webhooks.make(one, outcome);
    }
    made.push(await webhooks.send(accountId, [one]));
    const other = await webhooks.account();
    for (const { id } of made) expect(await log.ofMessage(other, id)).toBeNull();
    for (const status of [null, 'pending', 'delivered', 'failed'] as const)
      expect(await log.ofEndpoint(other, one, { ...PAGE, status })).toEqual([]);
    expect(await listed(null, other)).toEqual([]);
  });

  it('shows what was delivered of a cancelled message, and nothing that no longer comes', async () => {
    const message = await webhooks.send(accountId, [one, two]);
    await webhooks.make(two, 'delivered');
    await webhooks.store.sql(
      `UPDATE sluice.messages SET status = 'cancelled', claim = NULL, claim_expires_at = NULL WHERE id = $1`,
      [message.id],
    );
    expect(await ofOne()).toEqual([]);
    expect(await ofMessage(message)).toMatchObject([{ endpointId: two, status: 'delivered' }]);
  });

  it('shows a deleted endpoint without its URL', async () => {
    const message = await webhooks.send(accountId, [one]);
    await webhooks.make(one, 'delivered');
    await webhooks.store.sql('DELETE FROM sluice.endpoints WHERE id = $1', [one]);
    expect(await ofMessage(message)).toMatchObject([{ status: 'delivered', url: null, description: null }]);
  });
});
