import { accountForEach, expectProblem, sharedApi } from '../../support/api.js';
import { Consumer, type LeasedMessage } from '../../support/consumer.js';

const UUID = '8f14e45f-ceea-467f-a0e6-7d0d9b1c2a3b';

describe('A leased message', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const consumer = new Consumer(api, account);
  let leased: LeasedMessage;
  beforeEach(async () => {
    await api.ask(account, 'PATCH /account', { delivery: 'pull' });
    await api.sent(account);
    leased = await consumer.leaseOne();
  });

  const stored = async () => (await api.ask(account, `GET /messages/${leased.id}`)).body;
  const attempts = async () => (await api.ask(account, `GET /messages/${leased.id}/attempts`)).body.data;
  const expire = () =>
    api.sql('UPDATE sluice.messages SET available_at = now(), claim_expires_at = now() WHERE id = $1', [leased.id]);

  it('is delivered by POST /messages/:id/ack, which responds 204, also when it is repeated', async () => {
    for (let times = 0; times < 2; times++) {
      expect(await consumer.ack(leased)).toMatchObject({ status: 204 });
      expect(await stored()).toMatchObject({ status: 'delivered', attempts: 1, failureReason: null });
      expect(await attempts()).toEqual([
        {
          ...{ number: 1, target: 'pull', outcome: 'delivered', error: null, responseStatus: null, responseBody: null },
          ...{ startedAt: expect.any(String) as string, durationMs: expect.any(Number) as number },
        },
      ]);
    }
    expectProblem(await consumer.nack(leased), 409, 'lease_lost');
    expectProblem(await consumer.extend(leased, 10), 409, 'lease_lost');
    expectProblem(await consumer.ack({ ...leased, leaseToken: `1.${UUID}` }), 409, 'lease_lost');
  });

  it('cannot be ended or extended under a lease that is expired or foreign', async () => {
    const [, token = ''] = leased.leaseToken.split('.');
    const other = new Consumer(api, await api.signUp());
    const foreign = [
      `1.${UUID}`,
      `2.${token}`,
      '',
      'x',
      '1.',
      `${leased.leaseToken}0`,
      `0${leased.leaseToken}`,
      '\u0000',
    ];
    for (const leaseToken of foreign) {
      const lease = { ...leased, leaseToken };
      expectProblem(await consumer.ack(lease), 409, 'lease_lost');
      expectProblem(await consumer.nack(lease), 409, 'lease_lost');
      expectProblem(await consumer.extend(lease, 10), 409, 'lease_lost');
    }
    const unknown = ['msg_unknown', 'x', `${leased.id}0`].map((id) => [consumer, { ...leased, id }] as const);
    for (const [by, lease] of [[other, leased] as const, ...unknown]) {
      expectProblem(await by.ack(lease), 404, 'message_not_found');
      expectProblem(await by.nack(lease), 404, 'message_not_found');
      expectProblem(await by.extend(lease, 10), 404, 'message_not_found');
    }
    expect(await stored()).toMatchObject({ status: 'processing' });
    await expire();
    expectProblem(await consumer.ack(leased), 409, 'lease_lost');
    expectProblem(await consumer.nack(leased), 409, 'lease_lost');
    expectProblem(await consumer.extend(leased, 10), 409, 'lease_lost');
    expect(await consumer.leaseOne()).toMatchObject({ id: leased.id, attempt: 2 });
    expectProblem(await consumer.ack(leased), 409, 'lease_lost');
  });

  it('cannot be ended or extended with the token of another message that was leased with it', async () => {
    await api.sendBatch(account, { messages: ['b', 'c'] });
    const [one, two] = await consumer.lease();
    if (one === undefined || two === undefined) throw new Error('There are two.');
    const mixed = { ...one, leaseToken: two.leaseToken };
    const { id, leaseToken } = mixed;
    expectProblem(await consumer.ack(mixed), 409, 'lease_lost');
    expectProblem(await consumer.nack(mixed), 409, 'lease_lost');
    expectProblem(await consumer.extend(mixed, 10), 409, 'lease_lost');
    expect((await consumer.ackAll([{ id, leaseToken }])).body.data).toEqual([{ id, result: 'lease_lost' }]);
    for (const lease of [one, two]) expect(await consumer.ack(lease)).toMatchObject({ status: 204 });
  });

  it('is available again after POST /messages/:id/nack, at once or later, and keeps the reason', async () => {
    for (let times = 0; times < 2; times++) {
      expect((await consumer.nack(leased, { delaySeconds: 0, reason: 'no such address' })).status).toBe(204);
    }
    expect(await stored()).toMatchObject({ status: 'queued', failureReason: 'no such address', attempts: 1 });
    expect(await attempts()).toMatchObject([{ outcome: 'retried', error: 'no such address', target: 'pull' }]);
    const again = await consumer.leaseOne();
    expect(again).toMatchObject({ id: leased.id, attempt: 2 });
    expect((await consumer.nack(again, { delaySeconds: 3_600 })).status).toBe(204);
    expect(await consumer.lease()).toEqual([]);
    expect(await stored()).toMatchObject({ status: 'queued', failureReason: 'rejected' });
    expectProblem(await consumer.ack(again), 409, 'lease_lost');
  });

  it('waits as long as other messages do when POST /messages/:id/nack gives no delay', async () => {
    await consumer.nack(leased);
    const [row] = await api.sql<{ ms: number }>(
      `SELECT extract(epoch FROM available_at - updated_at)::float8 * 1000 AS ms FROM sluice.messages WHERE id = $1`,
      [leased.id],
    );
    // BACKOFF_MS, of which up to a half is random.
    expect(row?.ms).toBeGreaterThan(450);
    expect(row?.ms).toBeLessThan(1_050);
  });

  it('removes control characters from a reason, and keeps them in the message', async () => {
    const controls = '\u001b[2J\u009b31mred\u202e\u{e0041}\nend';
    const sent = await api.sent(account, { message: controls });
    await consumer.ack(leased);
    const again = await consumer.leaseOne();
    expect((await consumer.nack(again, { reason: controls })).status).toBe(204);
    const { body } = await api.ask(account, `GET /messages/${sent.id}`);
    expect(body).toMatchObject({
      id: again.id,
      message: controls,
      failureReason: '\ufffd[2J\ufffd31mred\ufffd\ufffd end',
    });
  });

  it.each([
    ['spaces', '   '],
    ['line breaks', '\n\r\n\t'],
    ['spaces of other scripts', '\u00a0\u3000'],
  ])('gives no reason with a blank one: %s', async (_what, reason) => {
    expect((await consumer.nack(leased, { reason })).status).toBe(204);
    expect(await stored()).toMatchObject({ status: 'queued', failureReason: 'rejected' });
  });

  it.each([
    ['a word', 'gone'],
    ['of 1,000 characters', '💌'.repeat(1_000)],
  ])('is failed by the nack of its last attempt, with its reason: %s', async (_what, reason) => {
    await api.sql('UPDATE sluice.messages SET failures = 2, crashes = 2 WHERE id = $1', [leased.id]);
    for (let times = 0; times < 2; times++) {
      expect((await consumer.nack(leased, { delaySeconds: 0, reason })).status).toBe(204);
    }
    expect(await stored()).toMatchObject({ status: 'failed', failureReason: reason });
    expect(await attempts()).toMatchObject([{ outcome: 'failed', error: reason }]);
    expect(await consumer.lease()).toEqual([]);
  });

  it('stays leased for as long as POST /messages/:id/extend says', async () => {
    const { status, body } = await consumer.extend(leased, 3_600);
    expect(status).toBe(200);
    expect(body).toEqual({ leaseExpiresAt: expect.any(String) as string });
    expect(Math.abs(Date.parse(String(body.leaseExpiresAt)) - Date.now() - 3_600_000)).toBeLessThan(10_000);
    expect((await consumer.extend(leased, 1)).status).toBe(200);
    expect(await consumer.leaseOne({ wait: 20 })).toMatchObject({ id: leased.id, attempt: 2 });
  });

  it.each([
    ['ack', 'leaseToken', [undefined, null, 1, {}]],
    ['nack', 'leaseToken', [undefined, 1]],
    ['nack', 'delaySeconds', [-1, 86_401, 0.5, '1']],
    ['nack', 'reason', ['', 'x'.repeat(1_001), '💌'.repeat(1_001), 'a\u0000', '\ud800', 1]],
    ['extend', 'leaseToken', [undefined, 1]],
    ['extend', 'seconds', [undefined, null, 0, 3_601, 1.5, '1']],
  ])('is not changed by %s with an invalid %s, which gets 400', async (what, field, values) => {
    for (const value of values) {
      const body = { leaseToken: leased.leaseToken, seconds: 10, [field]: value };
      const response = await api.ask(account, `POST /messages/${leased.id}/${what}`, body);
      const { errors } = expectProblem(response, 400, 'validation_failed');
      expect(errors).toMatchObject([{ pointer: `/${field}` }]);
    }
    expect(await stored()).toMatchObject({ status: 'processing' });
  });

  describe('POST /messages/ack', () => {
    it('responds 200 with what became of each, in order, also of duplicates, unknown and lost ones', async () => {
      await api.sendBatch(account, { messages: ['b', 'c'] });
      const [second, third] = await consumer.lease();
      if (second === undefined || third === undefined) throw new Error('There are two.');
      await api.sql('UPDATE sluice.messages SET available_at = now(), claim_expires_at = now() WHERE id = $1', [
        third.id,
      ]);
      const foreign = { ...leased, leaseToken: `2.${UUID}` };
      const batch = [
        leased,
        foreign,
        second,
        leased,
        third,
        { id: 'msg_unknown', leaseToken: `1.${UUID}` },
        { id: '', leaseToken: '' },
      ];
      const items = batch.map(({ id, leaseToken }) => ({ id, leaseToken }));
      const results = [
        'acknowledged',
        'lease_lost',
        'acknowledged',
        'acknowledged',
        'lease_lost',
        'lease_lost',
        'lease_lost',
      ];
      for (let times = 0; times < 2; times++) {
        const { status, body } = await consumer.ackAll(items);
        expect({ status, body }).toEqual({
          status: 200,
          body: { data: batch.map(({ id }, index) => ({ id, result: results[index] })) },
        });
      }
      expect(await stored()).toMatchObject({ status: 'delivered' });
      const others = new Consumer(api, await api.signUp());
      expect((await others.ackAll(items)).body.data).toMatchObject(batch.map(() => ({ result: 'lease_lost' })));
    });

    it('takes leases as they were received, with their texts', async () => {
      await api.sendBatch(account, { messages: ['x'.repeat(200_000), 'x'.repeat(200_000)] });
      const received = await consumer.lease();
      expect((await consumer.ackAll(received)).body.data).toMatchObject(
        received.map(() => ({ result: 'acknowledged' })),
      );
    });

    it('takes up to a thousand', async () => {
      const item = { id: leased.id, leaseToken: leased.leaseToken };
      expect((await consumer.ackAll(Array<object>(1_000).fill(item))).body.data).toHaveLength(1_000);
      for (const leases of [[], Array<object>(1_001).fill(item)]) {
        const { errors } = expectProblem(await consumer.ackAll(leases), 400, 'validation_failed');
        expect(errors).toMatchObject([{ pointer: '/leases' }]);
      }
    });

    it('responds 400 validation_failed to items that are none, and acknowledges nothing', async () => {
      const { id, leaseToken } = leased;
      const items = [{ id, leaseToken }, null, [], { id: 1, leaseToken }, { id }, { __proto__: { id }, leaseToken }];
      const { errors } = expectProblem(await consumer.ackAll(items as object[]), 400, 'validation_failed');
      expect((errors as { pointer: string }[]).map(({ pointer }) => pointer)).toEqual([
        ...['/leases/1', '/leases/2', '/leases/3/id', '/leases/4/leaseToken', '/leases/5/id'],
      ]);
      expect(await stored()).toMatchObject({ status: 'processing' });
    });
  });
});
