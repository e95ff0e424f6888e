import { Webhook } from 'standardwebhooks';
import type { Account } from '../../support/api.js';
import { expectProblem, pageOf } from '../../support/api.js';
import { Fleet } from '../../support/fleet.js';
import { until } from '../../support/processes.js';
import { Receiver, type Behaviour } from '../../support/receiver.js';

const DEADLINE_MS = 60_000;

interface Issued {
  readonly id: string;
  readonly secret: string;
}

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly failureReason: string | null;
  readonly delivery: string;
}

interface ShownAttempt {
  readonly number: number;
  readonly outcome: string;
  readonly error: string | null;
  readonly target: string;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
}

describe('Webhooks', () => {
  let fleet: Fleet;
  let receiver: Receiver;
  let account: Account;
  let paths = 0;

  beforeAll(async () => {
    fleet = await Fleet.start({
      ...{ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_RETRY_SECONDS: '0,0', WEBHOOK_TIMEOUT_MS: '10000' },
    });
    await fleet.worker();
    receiver = await Receiver.start();
  });
  afterAll(async () => {
    receiver.stop();
    await fleet.stop();
  });
  beforeEach(async () => {
    account = await anAccount();
  });

  const ask = (route: string, body?: object) => fleet.client.ask(account, route, body);
  const anAccount = async () => {
    const created = await fleet.client.signUp();
    await fleet.client.ask(created, 'PATCH /account', { delivery: 'webhooks' });
    return created;
  };
  /** An endpoint at a path of its own. */
  const endpoint = async (behaviour: Behaviour = 204, more: object = {}) => {
    const path = `/${paths++}`;
    const created = (await ask('POST /endpoints', { url: receiver.url(path, behaviour), ...more })).body;
    return { path, ...(created as unknown as Issued) };
  };
  const send = async (message = 'hello', body?: object) =>
    (await fleet.client.sent(account, { message, ...(body && { body }) })).id;
  const message = async (id: string) => (await ask(`GET /messages/${id}`)).body as unknown as Shown;
  const attempts = async (id: string) =>
    ((await ask(`GET /messages/${id}/attempts`)).body as unknown as { data: ShownAttempt[] }).data;
  const becomes = async (id: string, status: string): Promise<Shown> => {
    let shown = await message(id);
    const hasBecome = async () => (shown = await message(id)).status === status;
    await until(hasBecome, DEADLINE_MS, () => JSON.stringify(shown));
    return shown;
  };

  const byTarget = (one: { target: string }, other: { target: string }) => one.target.localeCompare(other.target);
  const SINCE = '2026-01-01T00:00:00Z';
  const replay = async ({ id }: Issued, body: object = { since: SINCE }) =>
    (await ask(`POST /endpoints/${id}/replay`, body)).body;

  afterEach(async () => {
    expect(await fleet.census()).toBe(0);
  });

  it('are signed requests that the public library verifies', async () => {
    const { path, secret, id: endpointId } = await endpoint((response) => response.writeHead(200).end('thank you'));
    const id = await send('Grüße 💌');
    expect(await becomes(id, 'delivered')).toMatchObject({ attempts: 1, failureReason: null, delivery: 'webhooks' });
    const [request] = receiver.at(path);
    const { createdAt } = (await ask(`GET /messages/${id}`)).body;
    const verified = new Webhook(secret).verify(request?.body ?? '', request?.headers as Record<string, string>);
    expect(verified).toEqual({
      ...{ type: 'message', timestamp: createdAt },
      data: { id, message: 'Grüße 💌', createdAt },
    });
    expect(request?.headers).toMatchObject({
      ...{ 'content-type': 'application/json', 'webhook-id': id },
      'user-agent': expect.stringMatching(/^Sluice\/\d/) as string,
    });
    expect(await attempts(id)).toMatchObject([
      {
        number: 1,
        outcome: 'delivered',
        error: null,
        target: endpointId,
        responseStatus: 200,
        responseBody: 'thank you',
      },
    ]);
  });

  it('count as stored with their message, for each endpoint', async () => {
    await endpoint();
    await endpoint();
    await send('x');
    await ask('POST /messages/batch', { messages: [{ message: 'x' }, { message: 'x' }] });
    const usedBytes = async () => {
      const { storage } = (await ask('GET /account/usage')).body as { storage: { usedBytes: number } };
      return storage.usedBytes;
    };
    await until(async () => (await usedBytes()) === 3 * (257 + 2 * 1_024), DEADLINE_MS);
  });

  it('go to every enabled endpoint, and to those that are enabled when the message is accepted', async () => {
    const [first, second] = [await endpoint(), await endpoint()];
    const disabled = await endpoint(204, { enabled: false });
    const id = await send();
    const later = await endpoint();
    await becomes(id, 'delivered');
    expect([first, second, disabled, later].map(({ path }) => receiver.ids(path))).toEqual([[id], [id], [], []]);
    const again = await send();
    await becomes(again, 'delivered');
    expect(receiver.ids(later.path)).toEqual([again]);
  });

  it('fail at once without an endpoint, and are retried when there is one', async () => {
    const ids = [await send(), await send('later', { message: 'later', deliverAt: new Date(Date.now() + 60_000) })];
    for (const id of ids) {
      expect(await message(id)).toMatchObject({ status: 'failed', failureReason: 'no_endpoint', attempts: 0 });
    }
    const [id = ''] = ids;
    expect((await ask(`POST /messages/${id}/retry`)).body).toMatchObject({
      ...{ status: 'failed', failureReason: 'no_endpoint' },
    });
    const { path } = await endpoint();
    expect((await ask(`POST /messages/${id}/retry`)).body).toMatchObject({ status: 'queued', failureReason: null });
    await becomes(id, 'delivered');
    expect(receiver.ids(path)).toEqual([id]);
  });

  it('are sent in batches, and once for a repeated request', async () => {
    const { path } = await endpoint();
    const messages = ['one', 'two', 'three'].map((one) => ({ message: one }));
    const post = () => fleet.client.ask(account, 'POST /messages/batch', { messages }, { 'idempotency-key': 'batch' });
    const { data } = (await post()).body as unknown as { data: { id: string }[] };
    await post();
    for (const { id } of data) await becomes(id, 'delivered');
    expect(receiver.ids(path).sort()).toEqual(data.map(({ id }) => id).sort());
  });

  it('wait for deliverAt, and can be cancelled until then', async () => {
    const { path } = await endpoint();
    const [deliverAt, later] = [new Date(Date.now() + 1_000), new Date(Date.now() + 3_600_000)];
    const due = await send('', { message: 'x', deliverAt });
    const cancelled = await send('', { message: 'x', deliverAt: later });
    expect((await ask(`POST /messages/${cancelled}/cancel`)).status).toBe(200);
    await fleet.sql('UPDATE sluice.endpoint_deliveries SET due_at = now() WHERE message_id = $1', [cancelled]);
    await becomes(due, 'delivered');
    expect(Date.now()).toBeGreaterThanOrEqual(deliverAt.getTime());
    await until(async () => (await fleet.sql('SELECT FROM sluice.endpoint_deliveries')).length === 0, DEADLINE_MS);
    expect(receiver.ids(path)).toEqual([due]);
    expect(await message(cancelled)).toMatchObject({ status: 'cancelled' });
  });

  it.each([
    ['one', (id: string) => `POST /messages/${id}/retry`, undefined],
    ['all', () => 'POST /messages/retry', {}],
    ['all missed', (_: string, endpointId: string) => `POST /endpoints/${endpointId}/replay`, {}],
  ])('wait for deliverAt also when they failed before it: %s', async (_name, routeOf, span) => {
    const { id: deleted } = await endpoint();
    const deliverAt = new Date(Date.now() + 3_600_000);
    const bodies = [
      { message: 'plain', deliverAt },
      ...['1', '2'].map((n) => ({ message: n, deliverAt, orderingKey: 'k' })),
    ];
    const ids: string[] = [];
    for (const body of bodies) ids.push(await send('', body));
    await ask(`DELETE /endpoints/${deleted}`);
    for (const id of ids) await becomes(id, 'failed');
    const { path, id: endpointId } = await endpoint();
    const period = span && { since: new Date(0).toISOString(), until: new Date().toISOString() };
    for (const id of span ? ids.slice(0, 1) : ids) {
      const { body } = await ask(routeOf(id, endpointId), period);
      if (!span) expect(body.nextAttemptAt).toBe(deliverAt.toISOString());
    }
    for (const id of ids) expect((await message(id)).status).toBe('queued');
    for (const id of ids.slice(0, 2))
      expect(await message(id)).toMatchObject({ nextAttemptAt: deliverAt.toISOString() });
    const later = await send();
    await becomes(later, 'delivered');
    expect(receiver.ids(path)).toEqual([later]);
  });

  it('are repeated until the endpoint has them', async () => {
    const { path, id: endpointId } = await endpoint((response, _received, n) => {
      response.writeHead(n < 3 ? 500 : 204).end(n < 3 ? 'not yet' : undefined);
    });
    const id = await send();
    expect(await becomes(id, 'delivered')).toMatchObject({ attempts: 3, failureReason: null });
    expect(receiver.ids(path)).toEqual([id, id, id]);
    const failed = { outcome: 'retried', error: 'The receiver returned 500.', responseBody: 'not yet' };
    expect(await attempts(id)).toMatchObject([
      { number: 1, ...failed, target: endpointId, responseStatus: 500 },
      { number: 2, ...failed, target: endpointId, responseStatus: 500 },
      { number: 3, outcome: 'delivered', error: null, responseBody: '' },
    ]);
  });

  it('fail when one endpoint has used up its attempts, and a retry reaches only that one, as often', async () => {
    const bad = await endpoint((response, _received, n) => response.writeHead(n < 6 ? 500 : 204).end());
    const good = await endpoint();
    const id = await send();
    const failed = await becomes(id, 'failed');
    const targets = async () => (await attempts(id)).map(({ target, error }) => ({ target, error }));
    const refused = { target: bad.id, error: 'The receiver returned 500.' };
    const made = [refused, refused, refused, { target: good.id, error: null }];
    expect((await targets()).sort(byTarget)).toEqual(made.sort(byTarget));
    expect(failed).toMatchObject({ attempts: 4, failureReason: `${bad.id}: The receiver returned 500.` });
    const missed = pageOf<Shown>(await ask(`GET /messages?endpointId=${bad.id}&status=failed`));
    expect(missed.data.map((one) => one.id)).toEqual([id]);
    expect(pageOf(await ask(`GET /messages?endpointId=${good.id}&status=failed`)).data).toEqual([]);
    expect((await ask(`POST /messages/${id}/retry`)).status).toBe(202);
    expect(await becomes(id, 'delivered')).toMatchObject({ attempts: 7 });
    expect((await targets()).slice(4)).toEqual([refused, refused, { target: bad.id, error: null }]);
    expect([bad, good].map(({ path }) => receiver.ids(path))).toEqual([Array(6).fill(id), [id]]);
    expect(pageOf(await ask(`GET /messages?endpointId=${bad.id}&status=failed`)).data).toEqual([]);
  });

  it('are retried by time of creation as well', async () => {
    let status = 500;
    const bad = await endpoint((response) => response.writeHead(status).end());
    const good = await endpoint();
    const since = new Date(Date.now() - 1_000);
    const ids = [await send(), await send()];
    for (const id of ids) await becomes(id, 'failed');
    status = 204;
    const until = new Date(Date.now() + 60_000);
    expect((await ask('POST /messages/retry', { since, until })).body).toEqual({ count: 2 });
    for (const id of ids) await becomes(id, 'delivered');
    expect(receiver.ids(good.path).length).toBe(2);
    expect(receiver.ids(bad.path).filter((id) => id === ids[0]).length).toBe(4);
  });

  it.each([
    ['a redirect', 302, 'The receiver returned 302.'],
    ['a client error', 404, 'The receiver returned 404.'],
  ])('count %s as a failure', async (_what, status, reason) => {
    const { id: endpointId } = await endpoint((response) => response.writeHead(status, { location: '/' }).end());
    expect((await becomes(await send(), 'failed')).failureReason).toBe(`${endpointId}: ${reason}`);
    expect(receiver.at('/')).toEqual([]);
  });

  it('are repeated in time when there is no answer', async () => {
    await endpoint((response, _received, n) => {
      if (n > 1) response.writeHead(204).end();
    });
    const id = await send();
    await becomes(id, 'delivered');
    expect(await attempts(id)).toMatchObject([
      { outcome: 'retried', error: 'The receiver did not answer within 10000 ms.', responseStatus: null },
      { outcome: 'delivered' },
    ]);
  });

  it('respect Retry-After of 503 and 429', async () => {
    const { path } = await endpoint((response, _received, n) => {
      response.writeHead(n === 1 ? 503 : n === 2 ? 429 : 204, n < 3 ? { 'retry-after': '1' } : {}).end();
    });
    await becomes(await send(), 'delivered');
    const times = receiver.at(path).map(({ at }) => at);
    expect(times.length).toBe(3);
    expect(times.slice(1).every((at, index) => at - (times[index] ?? 0) >= 950)).toBe(true);
  });

  it('disable an endpoint that answers 410, and fail for it until it is enabled again', async () => {
    const { path, id: endpointId } = await endpoint((response, _received, n) =>
      response.writeHead(n === 1 ? 410 : 204).end(),
    );
    const id = await send();
    const failureReason = `${endpointId}: The receiver returned 410.`;
    expect(await becomes(id, 'failed')).toMatchObject({ attempts: 1, failureReason });
    expect((await ask(`GET /endpoints/${endpointId}`)).body).toMatchObject({ enabled: false, disabledReason: 'gone' });
    expect(await message(await send())).toMatchObject({ status: 'failed', failureReason: 'no_endpoint' });
    await ask(`PATCH /endpoints/${endpointId}`, { enabled: true });
    await ask(`POST /messages/${id}/retry`);
    await becomes(id, 'delivered');
    expect(receiver.ids(path)).toEqual([id, id]);
  });

  it('disable an endpoint that has only failed for too long', async () => {
    const { id: endpointId } = await endpoint(500);
    await becomes(await send(), 'failed');
    const { failingSince } = (await ask(`GET /endpoints/${endpointId}`)).body;
    expect(failingSince).toEqual(expect.any(String));
    await fleet.sql(`UPDATE sluice.endpoints SET failing_since = now() - interval '121 hours' WHERE id = $1`, [
      endpointId,
    ]);
    const disabled = async () => {
      await send();
      return (await ask(`GET /endpoints/${endpointId}`)).body.disabledReason === 'failing';
    };
    await until(disabled, DEADLINE_MS);
  });

  it('forget the failures of an endpoint after a success', async () => {
    const { id: endpointId } = await endpoint((response, _received, n) =>
      response.writeHead(n === 1 ? 500 : 204).end(),
    );
    await becomes(await send(), 'delivered');
    const forgotten = async () => (await ask(`GET /endpoints/${endpointId}`)).body.failingSince === null;
    await until(forgotten, DEADLINE_MS);
  });

  describe('to an endpoint that is disabled or deleted', () => {
    const DAY_MS = 86_400_000;
    const later = () => ({ message: 'x', deliverAt: new Date(Date.now() + DAY_MS) });
    const missed = async ({ id }: Issued) =>
      pageOf<Shown>(await ask(`GET /messages?endpointId=${id}&status=failed`)).data.map((one) => one.id);

    it('end soon, and the message fails if no other has it', async () => {
      const [one, other] = [await endpoint(), await endpoint()];
      const id = await send('', later());
      await ask(`PATCH /endpoints/${one.id}`, { enabled: false });
      await until(async () => (await missed(one)).length === 1, DEADLINE_MS);
      expect(await message(id)).toMatchObject({ status: 'queued' });
      await ask(`DELETE /endpoints/${other.id}`);
      const { failureReason } = await becomes(id, 'failed');
      expect([`${one.id}: endpoint_disabled`, `${other.id}: endpoint_deleted`]).toContain(failureReason);
      expect([await missed(one), await missed(other), await attempts(id)]).toEqual([[id], [id], []]);
      await until(async () => (await fleet.sql('SELECT FROM sluice.ended_endpoints')).length === 0, DEADLINE_MS);
    });

    it('end in parts, whatever their number', async () => {
      const one = await endpoint();
      const messages = Array.from({ length: 1_000 }, () => later());
      await ask('POST /messages/batch', { messages });
      await ask('POST /messages/batch', { messages: messages.slice(0, 200) });
      await ask(`PATCH /endpoints/${one.id}`, { enabled: false });
      const failed = `SELECT FROM sluice.messages WHERE account_id = $1 AND status = 'failed'`;
      await until(async () => (await fleet.sql(failed, [account.id])).length === 1_200, DEADLINE_MS);
    });

    it('do not keep the message from being delivered to the others', async () => {
      const good = await endpoint();
      const bad = await endpoint((response) => response.writeHead(503, { 'retry-after': '3600' }).end());
      const id = await send();
      await until(async () => (await attempts(id)).length === 2, DEADLINE_MS);
      await ask(`PATCH /endpoints/${bad.id}`, { enabled: false });
      expect(await becomes(id, 'delivered')).toMatchObject({ attempts: 2, failureReason: null });
      expect([await missed(good), await missed(bad)]).toEqual([[], [id]]);
      await ask(`PATCH /endpoints/${bad.id}`, { enabled: true, url: receiver.url(bad.path, 204) });
      expect(await replay(bad)).toEqual({ count: 1 });
      await until(async () => (await missed(bad)).length === 0, DEADLINE_MS);
      await until(() => receiver.at(bad.path).length === 2, DEADLINE_MS);
      expect(receiver.at(good.path)).toHaveLength(1);
    });

    it('do not either when it answers 410', async () => {
      const [, gone] = [await endpoint(), await endpoint(410)];
      const id = await send();
      expect(await becomes(id, 'delivered')).toMatchObject({ attempts: 2 });
      expect(await missed(gone)).toEqual([id]);
    });

    it('no longer count if they have failed before, when the last of the others has the message', async () => {
      let status = 503;
      const slow = await endpoint((response) => response.writeHead(status, { 'retry-after': '2' }).end());
      const bad = await endpoint(500);
      const id = await send();
      await until(async () => (await missed(bad)).length === 1, DEADLINE_MS);
      expect(await message(id)).toMatchObject({ status: 'processing' });
      await ask(`DELETE /endpoints/${bad.id}`);
      status = 204;
      await becomes(id, 'delivered');
      expect(receiver.at(slow.path).length).toBeGreaterThan(1);
    });

    it('are replayed while others are still to be made', async () => {
      await endpoint((response) => response.writeHead(503, { 'retry-after': '3600' }).end());
      const paused = await endpoint(204, { enabled: false });
      const ids = [await send(), await send('', later())];
      await ask(`PATCH /endpoints/${paused.id}`, { enabled: true });
      expect(await replay(paused, { since: SINCE })).toEqual({ count: 2 });
      await until(() => receiver.at(paused.path).length === 1, DEADLINE_MS);
      expect(receiver.ids(paused.path)).toEqual(ids.slice(0, 1));
      expect(await message(ids[0] ?? '')).toMatchObject({ status: 'processing' });
    });

    it('are not needed by a message that is retried: it is delivered if another has it', async () => {
      const [, bad] = [await endpoint(), await endpoint(500)];
      const id = await send();
      await becomes(id, 'failed');
      await ask(`PATCH /endpoints/${bad.id}`, { enabled: false });
      expect((await ask(`POST /messages/${id}/retry`)).body).toMatchObject({
        status: 'delivered',
        failureReason: null,
      });
      expect(await missed(bad)).toEqual([id]);
    });
  });

  it('are not sent while the account is suspended', async () => {
    const { path } = await endpoint();
    const id = await send('', { message: 'x', deliverAt: new Date(Date.now() + 3_600_000) });
    await fleet.sql('UPDATE sluice.accounts SET suspended = true WHERE id = $1', [account.id]);
    const deliverAt = new Date();
    await fleet.sql('UPDATE sluice.endpoint_deliveries SET due_at = $2 WHERE message_id = $1', [id, deliverAt]);
    // Another account's message that was due later has arrived: so this one was passed over.
    const suspended = account;
    account = await anAccount();
    await endpoint();
    await becomes(await send('', { message: 'x', deliverAt: new Date(deliverAt.getTime() + 200) }), 'delivered');
    expect(receiver.at(path)).toEqual([]);
    await fleet.sql('UPDATE sluice.accounts SET suspended = false WHERE id = $1', [suspended.id]);
    account = suspended;
    await becomes(id, 'delivered');
  });

  it('respect the rate limit of an endpoint', async () => {
    const { path } = await endpoint(204, { rateLimitPerSecond: 5 });
    const messages = Array.from({ length: 12 }, (_, index) => ({ message: String(index) }));
    const { data } = (await ask('POST /messages/batch', { messages })).body as unknown as { data: { id: string }[] };
    for (const { id } of data) await becomes(id, 'delivered');
    const times = receiver.at(path).map(({ at }) => at);
    expect(times).toHaveLength(12);
    // What begins a second apart may arrive a little closer.
    for (const [n, at] of times.entries()) expect(at - (times[n - 5] ?? -Infinity)).toBeGreaterThan(850);
  });

  it('are signed by both secrets while one replaces the other, and then by the new one alone', async () => {
    const { path, secret, id: endpointId } = await endpoint();
    const rotate = async (graceSeconds: number) =>
      String((await ask(`POST /endpoints/${endpointId}/rotate-secret`, { graceSeconds })).body.secret);
    /** The secrets that sign the next request, each by itself, in the order of its signatures. */
    const signing = async (secrets: readonly string[]) => {
      await becomes(await send(), 'delivered');
      const { body = '', headers = {} } = receiver.at(path).at(-1) ?? {};
      const verifies = (secret: string, signature: string) => {
        try {
          new Webhook(secret).verify(body, { ...(headers as Record<string, string>), 'webhook-signature': signature });
          return true;
        } catch {
          return false;
        }
      };
      const signatures = String(headers['webhook-signature']).split(' ');
      return signatures.map((signature) => secrets.find((one) => verifies(one, signature)));
    };
    // Workers know the secrets of an endpoint for a second.
    const becomeSignedBy = (...expected: string[]) =>
      until(async () => String(await signing([secret, next, last].filter(Boolean))) === String(expected), DEADLINE_MS);
    let [next, last] = ['', ''];
    await becomeSignedBy(secret);
    next = await rotate(60);
    await becomeSignedBy(next, secret);
    last = await rotate(0);
    await becomeSignedBy(last);
  });

  it('count what their attempts store, with the responses', async () => {
    await endpoint((response) => response.writeHead(500).end('x'.repeat(2_000)));
    const id = await send('x');
    await becomes(id, 'failed');
    const stored = (await attempts(id)).reduce((sum, { error, responseBody }) => {
      return sum + 256 + String(error).length + String(responseBody).length;
    }, 0);
    const usedBytes = async () => {
      const { storage } = (await ask('GET /account/usage')).body as { storage: { usedBytes: number } };
      return storage.usedBytes;
    };
    expect(stored).toBeGreaterThan(3 * 1_024);
    // The first 768 bytes were counted with the delivery.
    await until(async () => (await usedBytes()) === 257 + 1_024 + stored - 768, DEADLINE_MS);
  });

  it('can be tested', async () => {
    const { path, secret, id: endpointId } = await endpoint((response) => response.writeHead(418).end('a teapot'));
    const { body } = await ask(`POST /endpoints/${endpointId}/test`);
    expect(body).toEqual({ status: 418, body: 'a teapot', error: null, durationMs: expect.any(Number) as number });
    const [request] = receiver.at(path);
    expect(new Webhook(secret).verify(request?.body ?? '', request?.headers as Record<string, string>)).toMatchObject({
      type: 'test',
    });
    const silent = await endpoint(() => undefined);
    expect((await ask(`POST /endpoints/${silent.id}/test`)).body).toMatchObject({
      ...{ status: null, error: 'The receiver did not answer within 10000 ms.' },
    });
  });

  it('are found by endpoint only with a status that its deliveries can have', async () => {
    const { id } = await endpoint();
    for (const query of [`endpointId=${id}&status=processing`, 'endpointId=x&status=failed']) {
      expectProblem(await ask(`GET /messages?${query}`), 400, 'validation_failed');
    }
  });

  describe('that are replayed to an endpoint', () => {
    it('are those that it has not got, and stay delivered', async () => {
      const first = await endpoint();
      const late = await endpoint(204, { enabled: false });
      const ids = [await send('one'), await send('two')];
      for (const id of ids) await becomes(id, 'delivered');
      const before = await Promise.all(ids.map(message));
      await ask(`PATCH /endpoints/${late.id}`, { enabled: true });
      const both = await send('to both');
      await becomes(both, 'delivered');

      expect(await replay(late)).toEqual({ count: 2 });
      await until(() => receiver.at(late.path).length === 3, DEADLINE_MS);
      for (const id of ids) {
        await until(async () => {
          const made = await attempts(id);
          return made.length === 2 && made.every(({ outcome }) => outcome !== 'running');
        }, DEADLINE_MS);
      }
      expect(await attempts(ids[0] ?? '')).toMatchObject([
        { number: 1, target: first.id, outcome: 'delivered' },
        { number: 2, target: late.id, outcome: 'delivered', responseStatus: 204 },
      ]);
      const after = await Promise.all(ids.map(message));
      expect(after).toEqual(before.map((shown) => ({ ...shown, attempts: 2 })));
      expect(await replay(late)).toEqual({ count: 0 });
      expect(receiver.at(first.path)).toHaveLength(3);
    });

    it('stay delivered if it fails, and can be replayed again', async () => {
      await endpoint();
      const late = await endpoint(500, { enabled: false });
      const id = await send();
      await becomes(id, 'delivered');
      await ask(`PATCH /endpoints/${late.id}`, { enabled: true });

      expect(await replay(late)).toEqual({ count: 1 });
      const ended = async () => (await attempts(id)).at(-1)?.outcome === 'failed';
      await until(ended, DEADLINE_MS);
      expect(await message(id)).toMatchObject({ status: 'delivered', attempts: 4 });
      expect(pageOf<Shown>(await ask(`GET /messages?endpointId=${late.id}&status=failed`)).data).toMatchObject([
        { id },
      ]);
      expect(await replay(late)).toEqual({ count: 1 });
      await until(async () => (await attempts(id)).length === 7, DEADLINE_MS);
    });

    it('are retried for it alone if they have failed', async () => {
      const [good, bad] = [await endpoint(), await endpoint(500)];
      const id = await send();
      await becomes(id, 'failed');
      await ask(`PATCH /endpoints/${bad.id}`, { url: receiver.url(bad.path, 204) });

      expect(await replay(bad)).toEqual({ count: 1 });
      expect(await becomes(id, 'delivered')).toMatchObject({ failureReason: null });
      expect(receiver.at(good.path)).toHaveLength(1);
    });

    it('are of the period only', async () => {
      await endpoint();
      const late = await endpoint(204, { enabled: false });
      await becomes(await send(), 'delivered');
      await ask(`PATCH /endpoints/${late.id}`, { enabled: true });
      const now = new Date().toISOString();
      expect(await replay(late, { since: SINCE, until: '2026-01-02T00:00:00Z' })).toEqual({ count: 0 });
      expect(await replay(late, { since: SINCE, until: now })).toEqual({ count: 1 });
    });

    it('are refused for one that is disabled, of another account, or a period that is none', async () => {
      const disabled = await endpoint(204, { enabled: false });
      const route = `POST /endpoints/${disabled.id}/replay`;
      expectProblem(await ask(route, { since: SINCE }), 409, 'endpoint_disabled');
      expectProblem(await fleet.client.ask(await anAccount(), route, { since: SINCE }), 404, 'endpoint_not_found');
      for (const body of [
        {},
        { since: 'yesterday' },
        { since: SINCE, until: SINCE },
        { since: '2100-01-01T00:00:00Z' },
      ]) {
        expectProblem(await ask(route, body), 400, 'validation_failed');
      }
    });
  });
});
