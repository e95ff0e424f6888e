import type { DeliveryResult, LeasedDelivery } from '#webhooks/application/endpoint-deliveries.js';
import type { Message } from '#messages/domain/message.js';
import { jobOf, SENT_AT } from '../support/messages.js';
import { resultOf, URL, WebhookStore } from './webhook-store.js';

const OUTCOMES = ['delivered', 'retried', 'failed'] as const;

describe('EndpointDeliveries', () => {
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
    [one = '', two = ''] = [await webhooks.endpoint(accountId), await webhooks.endpoint(accountId)].sort();
  });
  afterAll(() => webhooks.close());

  const send = (endpoints: readonly string[], state: Partial<Message['state']> = {}) =>
    webhooks.send(accountId, endpoints, state);
  const settle = (delivery: LeasedDelivery, outcome: DeliveryResult['outcome'], retryMs = 0) =>
    webhooks.deliveries.settle(resultOf(delivery, outcome, retryMs));
  const inAMinute = () => new Date(Date.now() + 60_000);
  /** Of about a minute. */
  const expectMinute = (ms: number | null) => {
    expect(Math.abs((ms ?? 0) - 60_000)).toBeLessThan(20_000);
  };
  const suspend = (suspended: boolean) =>
    webhooks.store.sql('UPDATE sluice.accounts SET suspended = $2 WHERE id = $1', [accountId, suspended]);

  describe('are due', () => {
    it('by endpoint, and counted up to a limit', async () => {
      for (const targets of [[one, two], [one], [one]]) await send(targets);
      const due = await webhooks.deliveries.due(2);
      expect(due).toHaveLength(2);
      expect(due).toContainEqual({ endpointId: one, accountId, due: 2, rateLimitPerSecond: 0, keyId: null });
      expect(due).toContainEqual({ endpointId: two, accountId, due: 1, rateLimitPerSecond: 0, keyId: null });
    });

    it('unless nothing is left to make', async () => {
      await send([one]);
      await webhooks.make(one, 'delivered');
      await send([one]);
      await webhooks.make(one, 'failed');
      expect(await webhooks.deliveries.due(10)).toEqual([]);
      expect(await webhooks.deliveries.nextIn()).toBeNull();
    });

    it('when their time has come', async () => {
      const { id } = await send([one], { deliverAt: inAMinute() });
      expect(await webhooks.deliveries.due(10)).toEqual([]);
      expectMinute(await webhooks.deliveries.nextIn());
      await webhooks.store.sql('UPDATE sluice.endpoint_deliveries SET due_at = now() WHERE message_id = $1', [id]);
      expect(await webhooks.deliveries.due(10)).toEqual([
        { endpointId: one, accountId, due: 1, rateLimitPerSecond: 0, keyId: null },
      ]);
    });

    it('for no suspended account, until it is resumed', async () => {
      await send([one]);
      const other = await webhooks.account();
      const endpointId = await webhooks.endpoint(other);
      await webhooks.send(other, [endpointId]);
      await suspend(true);
      expect(await webhooks.deliveries.due(10)).toEqual([
        { endpointId, accountId: other, due: 1, rateLimitPerSecond: 0, keyId: null },
      ]);
      await suspend(false);
      expect(await webhooks.deliveries.due(10)).toHaveLength(2);
    });
  });

  describe('are leased', () => {
    it('with what an attempt needs, which starts', async () => {
      const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
      const message = await send([one], { text: 'Grüße', traceparent });
      const leased = await webhooks.leaseOne(one);
      expect(leased).toEqual({
        ...{ token: expect.any(String) as string, endpointId: one, accountId, messageId: message.id },
        ...{ content: jobOf(message).content, createdAt: SENT_AT, traceparent, failures: 0 },
        endpointVersion: expect.any(String) as string,
      });
      expect(await webhooks.see(message)).toMatchObject({ status: 'processing', attempts: 1, made: ['running'] });
    });

    it('with a number for each attempt, also of one message at once', async () => {
      const message = await send([one, two]);
      expect(await webhooks.lease([one, two])).toHaveLength(2);
      const attempts = (await webhooks.process.messages.attempts(accountId, message.id)) ?? [];
      expect(attempts.map(({ number, target }) => [number, target])).toEqual([
        [1, one],
        [2, two],
      ]);
      expect(await webhooks.see(message)).toMatchObject({ attempts: 2 });
    });

    it('for the endpoints that are named, as many as there are places', async () => {
      for (const targets of [[one, two], [one], [one]]) await send(targets);
      const leased = await webhooks.lease([one], 2);
      expect(leased.map(({ endpointId }) => endpointId)).toEqual([one, one]);
      expect(await webhooks.lease([one], 2)).toHaveLength(1);
    });

    it('once, by whoever asks at the same time', async () => {
      for (let n = 0; n < 60; n++) await send([one, two]);
      const { deliveries, other } = webhooks;
      const all = await Promise.all(
        [deliveries, other, deliveries, other].map((by) => webhooks.lease([one, two], 20, by)),
      );
      const names = all.flat().map(({ messageId, endpointId }) => `${messageId} ${endpointId}`);
      expect(names.length).toBeGreaterThan(40);
      expect(new Set(names).size).toBe(names.length);
    });

    it('not before they are due, even if they are marked as ready', async () => {
      await send([one]);
      // As a worker of the version before leaves them.
      await webhooks.store.sql(`UPDATE sluice.endpoint_deliveries SET due_at = now() + interval '1 minute'`);
      expect(await webhooks.lease([one])).toEqual([]);
    });

    it('again only once the lease has ended, and the attempt is lost', async () => {
      const message = await send([one]);
      const first = await webhooks.leaseOne(one);
      expect(await webhooks.lease([one])).toEqual([]);
      expectMinute(await webhooks.deliveries.nextIn());
      await webhooks.expire(one);
      expect(await webhooks.deliveries.due(10)).toHaveLength(1);
      const second = await webhooks.leaseOne(one);
      expect(second.token).not.toBe(first.token);
      // A lost attempt says nothing about the endpoint.
      expect(second.failures).toBe(0);
      const seen = { status: 'processing', attempts: 2 };
      expect(await webhooks.see(message)).toMatchObject({ ...seen, made: ['lost', 'running'] });
      await settle(second, 'delivered');
      expect(await webhooks.see(message)).toMatchObject({ status: 'delivered', made: ['lost', 'delivered'] });
    });

    it.each([
      ['cancelled', `UPDATE sluice.messages SET status = 'cancelled'`],
      ['removed', 'DELETE FROM sluice.messages'],
    ])('not of a message that was %s: they are dropped', async (_what, change) => {
      await send([one, two]);
      await webhooks.store.sql(change);
      expect(await webhooks.lease([one, two])).toEqual([]);
      expect(await webhooks.store.sql('SELECT FROM sluice.endpoint_deliveries')).toEqual([]);
      expect(await webhooks.store.sql('SELECT FROM sluice.attempts')).toEqual([]);
    });
  });

  describe('that are settled', () => {
    it.each([
      ['delivered', 'delivered', null, 0],
      ['retried', 'processing', null, 1],
      ['failed', 'failed', 'refused', 0],
    ] as const)('as %s leave a message %s', async (outcome, status, reason, due) => {
      const message = await send([one]);
      await webhooks.make(one, outcome);
      const failureReason = reason === null ? null : `${one}: ${reason}`;
      expect(await webhooks.see(message)).toEqual({ status, attempts: 1, failureReason, made: [outcome] });
      expect(await webhooks.process.messages.attempts(accountId, message.id)).toMatchObject([
        outcome === 'delivered'
          ? { error: null, responseStatus: 200, responseBody: 'yes' }
          : { error: 'refused', responseStatus: 500, responseBody: 'no' },
      ]);
      expect(await webhooks.lease([one])).toHaveLength(due);
      expect(await webhooks.missed(accountId, one)).toEqual(outcome === 'failed' ? [message.id] : []);
    });

    it('count their failures, and wait for their next attempt', async () => {
      await send([one]);
      for (const failures of [0, 1, 2]) {
        const leased = await webhooks.leaseOne(one);
        expect(leased.failures).toBe(failures);
        await settle(leased, 'retried', failures < 2 ? 0 : 60_000);
      }
      expect(await webhooks.lease([one])).toEqual([]);
      expectMinute(await webhooks.deliveries.nextIn());
    });

    it.each(OUTCOMES)('as %s by a worker that was too late change nothing', async (outcome) => {
      await send([one]);
      const late = await webhooks.leaseOne(one);
      await webhooks.expire(one);
      await webhooks.leaseOne(one);
      const before = await webhooks.everything();
      await settle(late, outcome);
      expect(await webhooks.everything()).toEqual(before);
    });

    it.each(OUTCOMES)('as %s twice, after a lost response, are settled once', async (outcome) => {
      await send([one]);
      const leased = await webhooks.leaseOne(one);
      await settle(leased, outcome);
      const before = await webhooks.everything();
      await settle(leased, outcome);
      expect(await webhooks.everything()).toEqual(before);
    });

    it.each([
      ['delivered', 'delivered', 'delivered'],
      ['delivered', 'failed', 'failed'],
      ['failed', 'delivered', 'failed'],
      ['failed', 'failed', 'failed'],
    ] as const)('as %s and %s end the message with the second, %s', async (first, second, status) => {
      const message = await send([one, two]);
      await webhooks.make(one, first);
      expect(await webhooks.see(message)).toMatchObject({ status: 'processing', failureReason: null });
      await webhooks.make(two, second);
      expect((await webhooks.see(message)).status).toBe(status);
    });

    it('at the same time in two processes end each message once', async () => {
      const sent = await Promise.all(Array.from({ length: 20 }, () => send([one, two])));
      const leased = [...(await webhooks.lease([one], 20)), ...(await webhooks.lease([two], 20))];
      await Promise.all(
        leased.map((delivery) =>
          (delivery.endpointId === one ? webhooks.deliveries : webhooks.other).settle(resultOf(delivery, 'delivered')),
        ),
      );
      const seen = await Promise.all(sent.map((message) => webhooks.see(message)));
      expect(seen).toEqual(
        sent.map(() => ({
          ...{ status: 'delivered', attempts: 2, failureReason: null },
          made: ['delivered', 'delivered'],
        })),
      );
    });

    it('at the same time, each before the commit of the other, end the message', async () => {
      const message = await send([one, two]);
      const leased = await webhooks.lease([one, two]);
      await webhooks.store.sql(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER late AFTER INSERT ON sluice.attempts
          DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`);
      const commits = await webhooks.store.transaction('SELECT pg_advisory_xact_lock(1)');
      const settled = leased.map((delivery, index) =>
        (index === 0 ? webhooks.deliveries : webhooks.other).settle(resultOf(delivery, 'delivered')),
      );
      await webhooks.store.until(async () => {
        const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        return (await webhooks.store.sql(waiting)).length === 2;
      });
      await commits.query('COMMIT');
      await Promise.all(settled);
      expect(await webhooks.see(message)).toMatchObject({ status: 'delivered' });
    });

    it.each([
      ['delivered', 'delivered', null],
      ['failed', 'failed', 'refused'],
    ] as const)('for a disabled endpoint do not count beside one that has %s', async (outcome, status, reason) => {
      const message = await send([one, two]);
      const leased = await webhooks.leaseOne(one);
      await webhooks.enable(one, false);
      await webhooks.make(two, outcome);
      await settle(leased, 'failed');
      const failureReason = reason === null ? null : `${two}: ${reason}`;
      expect(await webhooks.see(message)).toMatchObject({ status, failureReason });
      expect(await webhooks.missed(accountId, one)).toEqual([message.id]);
    });

    it('for a disabled endpoint do not count when it is enabled again', async () => {
      const message = await send([one, two]);
      const leased = await webhooks.leaseOne(one);
      await webhooks.enable(one, false);
      await settle(leased, 'failed');
      await webhooks.enable(one, true);
      await webhooks.make(two, 'delivered');
      expect(await webhooks.see(message)).toMatchObject({ status: 'delivered', failureReason: null });
    });

    it('without a request do not count against the message, even if the endpoint is enabled again', async () => {
      const message = await send([one, two]);
      const leased = await webhooks.leaseOne(one);
      await webhooks.deliveries.settle({ ...resultOf(leased, 'failed'), revision: null });
      await webhooks.make(two, 'delivered');
      expect(await webhooks.see(message)).toMatchObject({ status: 'delivered', failureReason: null });
    });

    it('for the only endpoint, which was disabled, fail the message', async () => {
      const message = await send([one]);
      const leased = await webhooks.leaseOne(one);
      await webhooks.enable(one, false);
      await settle(leased, 'failed');
      expect(await webhooks.see(message)).toMatchObject({ status: 'failed', failureReason: `${one}: refused` });
    });
  });

  describe('note of their endpoint', () => {
    const failingSince = async () => {
      const sql = 'SELECT failing_since AS "at" FROM sluice.endpoints WHERE id = $1';
      const [row] = await webhooks.store.sql<{ at: Date | null }>(sql, [one]);
      return row?.at ?? null;
    };
    /** Ends attempts in one batch, as those are that end at about the same time. */
    const end = async (...ends: (readonly [LeasedDelivery | undefined, DeliveryResult['outcome']])[]) =>
      Promise.all(
        ends.map(([delivery, outcome]) => {
          if (delivery === undefined) throw new Error('Nothing was leased.');
          return webhooks.deliveries.settle(resultOf(delivery, outcome, 60_000));
        }),
      );
    const start = async (count: number) => {
      for (let sent = 0; sent < count; sent++) await send([one]);
      return webhooks.lease([one], count);
    };

    it('the first failure, and no later one', async () => {
      const [first, second] = await start(2);
      await end([first, 'retried']);
      const since = await failingSince();
      expect(since).not.toBeNull();
      await end([second, 'failed']);
      expect(await failingSince()).toEqual(since);
    });

    const HOUR_MS = 3_600_000;
    it.each([
      ['shortly before the failures are forgotten', `now() + interval '1 hour'`, true],
      ['after the failures are forgotten', `now() - interval '1 millisecond'`, false],
      ['after one of a process of the version before', 'NULL', true],
    ])('a failure %s', async (_what, until, isOfSeries) => {
      const [first, second] = await start(2);
      await end([first, 'retried']);
      await webhooks.store.sql(
        `UPDATE sluice.endpoints SET failing_since = $2, failing_until = ${until} WHERE id = $1`,
        [one, SENT_AT],
      );
      await end([second, 'retried']);
      expect((await failingSince())?.getTime() === SENT_AT.getTime()).toBe(isOfSeries);
      const [row] = await webhooks.store.sql<{ ms: number }>(
        `SELECT extract(epoch FROM failing_until - now())::float8 * 1000 AS ms FROM sluice.endpoints WHERE id = $1`,
        [one],
      );
      expect(row?.ms).toBeGreaterThan(23 * HOUR_MS);
    });

    it('no further failure within a minute, which need not change the endpoint', async () => {
      const version = () => webhooks.store.sql('SELECT xmin FROM sluice.endpoints WHERE id = $1', [one]);
      const [first, second] = await start(2);
      await end([first, 'retried']);
      const before = await version();
      await end([second, 'failed']);
      expect(await version()).toEqual(before);
    });

    it('a success after failures, even if its request began before them', async () => {
      const [slow, failed] = await start(2);
      await end([failed, 'retried']);
      await end([slow, 'delivered']);
      expect(await failingSince()).toBeNull();
    });

    it('a failure that ends after a success, even if its request began before it', async () => {
      const [slow, delivered] = await start(2);
      await end([delivered, 'delivered']);
      await end([slow, 'retried']);
      expect(await failingSince()).not.toBeNull();
    });

    it.each([
      ['a failure and then a success', ['retried', 'delivered'], false],
      ['a success and then a failure', ['delivered', 'retried'], true],
    ] as const)('%s of one batch', async (_what, outcomes, isFailing) => {
      const [before, ...others] = await start(3);
      await end([before, 'retried']);
      const since = await failingSince();
      await end(...outcomes.map((outcome, index) => [others[index], outcome] as const));
      expect((await failingSince()) !== null).toBe(isFailing);
      expect(await failingSince()).not.toEqual(since);
    });

    const address = (url: string) =>
      webhooks.store.sql('UPDATE sluice.endpoints SET url = $2 WHERE id = $1', [one, url]);
    const enableAgain = async () => {
      await webhooks.enable(one, false);
      await webhooks.enable(one, true);
    };
    const CHANGES: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['the URL was changed', () => address('https://new.example/')],
      [
        'the URL was changed and changed back',
        async () => {
          await address('https://new.example/');
          await address(URL);
        },
      ],
      ['it was enabled again', enableAgain],
      ['it was enabled again, twice', () => enableAgain().then(enableAgain)],
    ];
    it.each(CHANGES.flatMap(([what, change]) => OUTCOMES.map((outcome) => [what, outcome, change] as const)))(
      'nothing after %s, when they end as %s',
      async (_what, outcome, change) => {
        const [delivery, other] = await start(2);
        await change();
        await end([delivery, outcome]);
        expect(await failingSince()).toBeNull();
        await webhooks.store.sql('UPDATE sluice.endpoints SET failing_since = $2 WHERE id = $1', [one, SENT_AT]);
        await end([other, outcome]);
        expect(await failingSince()).toEqual(SENT_AT);
      },
    );

    it.each([
      ['nothing has changed', `SET url = url, enabled = enabled`],
      ['it has other types, headers and a limit', `SET types = '{a}', rate_limit_per_second = 9, description = 'b'`],
      ['it has another secret', `SET secrets = '[{}]'`],
    ])('their failure, when %s', async (_what, change) => {
      const [delivery] = await start(1);
      await webhooks.store.sql(`UPDATE sluice.endpoints ${change} WHERE id = $1`, [one]);
      await end([delivery, 'retried']);
      expect(await failingSince()).not.toBeNull();
    });

    it('nothing when no request was made', async () => {
      const [delivery] = await start(1);
      if (delivery === undefined) throw new Error('Nothing was leased.');
      await webhooks.deliveries.settle({ ...resultOf(delivery, 'failed'), revision: null });
      expect(await failingSince()).toBeNull();
    });
  });

  it.each([
    ['URL', `UPDATE sluice.endpoints SET url = 'https://new.example/' WHERE id = $1`],
    ['secrets', `UPDATE sluice.endpoints SET secrets = '[{}]' WHERE id = $1`],
    [
      'state',
      `UPDATE sluice.endpoints SET enabled = false, disabled_at = now(), disabled_reason = 'gone' WHERE id = $1`,
    ],
    ['existence', `DELETE FROM sluice.endpoints WHERE id = $1`],
  ])('start with another version after a change of the %s of their endpoint', async (_what, change) => {
    await send([one]);
    await send([one]);
    const [before] = await webhooks.lease([one], 1);
    await webhooks.store.sql(change, [one]);
    const [after] = await webhooks.lease([one], 1);
    expect(after?.endpointVersion).not.toBe(before?.endpointVersion);
  });
});
