import { readFileSync } from 'node:fs';
import { ConflictError, InvalidRequestError, NotFoundError, PermissionError, Sluice } from '#client/index.js';
import { accountForEach, OPERATOR, sharedApi } from '../support/api.js';

/** Operations that are pages for people, and the document itself. */
const PAGES = ['getOpenApiDocument', 'readDocs', 'getAsset', 'listErrors', 'explainError'];

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

describe('The client', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const called = new Set<string>();

  const recording: typeof fetch = (input, init) => {
    const { pathname } = new URL(input);
    called.add(
      `${init?.method ?? 'GET'} ${pathname.replace(/\b(msg|acct|key|ep)_\w+/g, '{}').replace(/(?<=plans\/).+/, '{}')}`,
    );
    return fetch(input, init);
  };
  const client = (apiKey = account.key) => new Sluice({ apiKey, baseUrl: api.url, fetch: recording });
  const collected = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
    const all: Item[] = [];
    for await (const item of items) all.push(item);
    return all;
  };

  it('sends, reads, cancels and retries messages', async () => {
    const { messages } = client();
    const sent = await messages.send('hello');
    expect(sent).toMatchObject({ message: 'hello', status: 'queued' });
    const deliverAt = new Date(Date.now() + 60_000);
    const batch = await messages.sendBatch([{ message: 'one' }, { message: 'two', deliverAt }]);
    expect(await messages.get(batch[1]?.id ?? '')).toMatchObject({
      message: 'two',
      deliverAt: deliverAt.toISOString(),
    });
    expect(await messages.cancel(batch[1]?.id ?? '')).toMatchObject({ status: 'cancelled' });
    await expect(messages.cancel(batch[1]?.id ?? '')).rejects.toThrow(ConflictError);
    expect(await messages.attempts(sent.id)).toEqual([]);
    expect(await messages.deliveries(sent.id)).toEqual([]);

    await api.become(sent.id, 'failed');
    expect(await messages.retry(sent.id)).toMatchObject({ status: 'queued' });
    await api.become(sent.id, 'failed');
    const since = new Date(Date.now() - 60_000);
    expect(await messages.retryAll({ since, until: new Date(Date.now() + 60_000) })).toEqual({ count: 1 });
    await expect(messages.get('msg_none')).rejects.toThrow(NotFoundError);
  });

  it('sends a type, metadata and an ordering key, and lists and cancels by type and time', async () => {
    const { messages } = client();
    const fields = {
      type: 'user.created',
      metadata: JSON.parse('{"region":"eu","__proto__":"data"}') as Record<string, string>,
      orderingKey: 'user-17',
    };
    const sent = await messages.send('hello', { ...fields, idempotencyKey: 'user-17-created' });
    expect(sent).toMatchObject(fields);
    expect(Object.keys(sent.metadata ?? {}).sort()).toEqual(['__proto__', 'region']);
    await messages.sendBatch([{ message: 'one', type: 'user.deleted' }, { message: 'two' }]);
    const [since, until] = [new Date(sent.createdAt), new Date(Date.parse(sent.createdAt) + 1)];
    const [found, ...others] = await collected(messages.list({ type: 'user.*', since, until }));
    expect(found).toMatchObject({ id: sent.id, ...fields, nextAttemptAt: null });
    expect(others).toEqual([]);
    expect(await collected(messages.list({ type: 'user.*', until: since }))).toEqual([]);
    expect(await messages.cancelAll({ type: 'user.*', since })).toEqual({ count: 2 });
    expect(await messages.cancelAll()).toMatchObject({ count: expect.any(Number) as number });
    expect(await collected(messages.list({ status: 'queued' }))).toEqual([]);
  });

  it('lists page by page', async () => {
    const { messages } = client();
    const sent = await messages.sendBatch(['1', '2', '3', '4', '5'].map((message) => ({ message })));
    const list = messages.list({ limit: 2, status: 'queued' });
    const newestFirst = sent.map(({ id }) => id).reverse();
    expect((await collected(list)).map(({ id }) => id)).toEqual(newestFirst);
    const { data, nextCursor } = await list.page();
    const { data: next } = await messages.list({ limit: 2, cursor: nextCursor ?? '' }).page();
    expect([...data, ...next].map(({ id }) => id)).toEqual(newestFirst.slice(0, 4));
    expect(await collected(messages.list({ status: 'failed' }))).toEqual([]);
  });

  it('manages the account and its keys', async () => {
    const sluice = client();
    expect(await sluice.account.get()).toMatchObject({ id: account.id, delivery: 'handler' });
    expect(await sluice.account.update({ delivery: 'pull' })).toMatchObject({ delivery: 'pull' });
    expect(await sluice.account.usage()).toMatchObject({ minute: { used: 3 } });
    expect(await sluice.account.usageHistory({ by: 'hour', since: new Date(), limit: 1 }).page()).toMatchObject({
      data: [],
      nextCursor: null,
    });
    expect(sluice.rateLimit?.windows.map(({ name }) => name)).toEqual(['minute', 'day']);
    expect(await sluice.account.simulate({ requests: [{ at: 0 }] })).toMatchObject({ admitted: 1 });

    const { keys } = sluice.account;
    const created = await keys.create({
      name: 'x',
      scopes: ['messages:read'],
      expiresAt: new Date(Date.now() + 60_000),
    });
    const restricted = client(created.key);
    await restricted.messages.list().page();
    await expect(restricted.messages.send('hello')).rejects.toThrow(PermissionError);
    expect((await keys.current()).scopes).toContain('account:manage');
    const rotated = await keys.rotate(created.id, { graceSeconds: 60 });
    expect((await collected(keys.list())).map(({ id }) => id)).toContain(rotated.id);
    await keys.revoke(rotated.id);
    expect((await collected(keys.list())).map(({ id }) => id)).not.toContain(rotated.id);
  });

  it('signs up', async () => {
    const { apiKey, name } = await Sluice.signUp({ baseUrl: api.url, name: 'Acme', fetch: recording });
    expect(name).toBe('Acme');
    expect(await client(apiKey.key).account.get()).toMatchObject({ name: 'Acme' });
    const failed: unknown = await Sluice.signUp({ baseUrl: api.url, name: '' }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(InvalidRequestError);
    expect((failed as InvalidRequestError).problem?.errors).toMatchObject([{ pointer: '/name' }]);
  });

  it('manages endpoints', async () => {
    const { endpoints } = client();
    const created = await endpoints.create({ url: 'https://sluice.invalid/hooks', description: 'orders' });
    expect(created.secret).toMatch(/^whsec_/);
    expect(await endpoints.get(created.id)).toMatchObject({ description: 'orders' });
    expect(await endpoints.update(created.id, { enabled: false })).toMatchObject({ enabled: false });
    expect((await collected(endpoints.list())).map(({ id }) => id)).toEqual([created.id]);
    expect((await endpoints.rotateSecret(created.id, { graceSeconds: 60 })).secret).not.toBe(created.secret);
    expect(await endpoints.test(created.id)).toMatchObject({ status: null });
    await expect(endpoints.replay(created.id, { since: new Date() })).rejects.toThrow(
      expect.objectContaining({ code: 'endpoint_disabled' }) as Error,
    );
    expect(await collected(endpoints.deliveries(created.id))).toEqual([]);
    await endpoints.delete(created.id);
    await expect(endpoints.get(created.id)).rejects.toThrow(NotFoundError);
  });

  it('leases messages', async () => {
    const { leases, messages, account: own } = client();
    await own.update({ delivery: 'pull' });
    await messages.sendBatch(['1', '2', '3'].map((message) => ({ message })));
    const [one, two, three] = await leases.lease({ max: 3, seconds: 30, wait: 1 });
    if (one === undefined || two === undefined || three === undefined) throw new Error('Not all were leased.');
    const { leaseExpiresAt } = await leases.extend(one.id, one.leaseToken, 60);
    expect(Date.parse(leaseExpiresAt)).toBeGreaterThan(Date.parse(one.leaseExpiresAt));
    await leases.ack(one.id, one.leaseToken);
    const foreign = one.leaseToken.replace(/\..*/, '.8f14e45f-ceea-467f-a0e6-7d0d9b1c2a3b');
    expect(await leases.ackBatch([two, { id: three.id, leaseToken: foreign }])).toMatchObject([
      { id: two.id, result: 'acknowledged' },
      { id: three.id, result: 'lease_lost' },
    ]);
    await leases.nack(three.id, three.leaseToken, { delaySeconds: 60, reason: 'not now' });
    expect(await messages.get(three.id)).toMatchObject({ status: 'queued', failureReason: 'not now' });
    await expect(leases.ack(three.id, three.leaseToken)).rejects.toThrow(
      expect.objectContaining({ code: 'lease_lost' }) as Error,
    );
  });

  it('is a client for operators, too', async () => {
    const { accounts, bans } = client(OPERATOR.key).admin;
    expect(await accounts.get(account.id)).toMatchObject({ plan: 'enterprise' });
    expect(await accounts.update(account.id, { suspended: true })).toMatchObject({ suspended: true });
    expect((await accounts.list({ limit: 1 }).page()).data).toHaveLength(1);
    expect((await collected(accounts.list({ suspended: true }))).map(({ id }) => id)).toContain(account.id);
    expect((await collected(accounts.keys(account.id))).map(({ id }) => id)).toEqual([account.keyId]);
    expect((await accounts.usageHistory(account.id, { until: new Date() }).page()).nextCursor).toBeNull();
    expect((await accounts.usage({ by: 'hour', limit: 1, until: '1970-01-02T00:00:00Z' }).page()).data).toEqual([]);
    await accounts.revokeKey(account.id, account.keyId);
    expect(await collected(accounts.keys(account.id))).toEqual([]);
    const made = await accounts.createKey(account.id, { name: 'way back', scopes: ['messages:send'] });
    expect(made).toMatchObject({ name: 'way back', scopes: ['messages:send'] });
    expect(made.key).toMatch(/^slc_/);
    const created = await accounts.create({ name: 'Blue Dolphin', plan: 'pro', externalId: 'client-1' });
    expect(created).toMatchObject({ plan: 'pro', externalId: 'client-1', apiKey: { name: 'first key' } });
    const link = await accounts.createPortalLink(created.id, { scopes: ['messages:read'] });
    const token = link.url.split('#link=')[1] ?? '';
    const opened = await Sluice.openPortalLink({ baseUrl: api.url, token, fetch: recording });
    expect(opened).toMatchObject({ id: link.id, scopes: ['messages:read'] });
    expect(await accounts.update(created.id, { name: 'Grey Dolphin' })).toMatchObject({ name: 'Grey Dolphin' });
    for (const filter of [{ name: 'grey dol' }, { externalId: 'client-1' }]) {
      expect((await collected(accounts.list(filter))).map(({ id }) => id)).toEqual([created.id]);
    }
    expect(await accounts.delete(created.id)).toMatchObject({ id: created.id });
    await expect(accounts.get(created.id)).rejects.toThrow(NotFoundError);
    expect(await collected(bans.list({ accountId: account.id }))).toEqual([]);
    await expect(bans.lift(account.keyId)).rejects.toThrow(NotFoundError);
  });

  it('defines plans, and reads what operators have changed', async () => {
    const { plans, audit } = client(OPERATOR.key).admin;
    const limits = { perMinute: 6, perDay: 60 };
    const created = await plans.put('client-plan', { limits, maxEndpoints: 3 }, { version: null });
    expect(created).toMatchObject({ limits, maxEndpoints: 3, maxStoredBytes: null, accounts: 0 });
    await expect(plans.put('client-plan', { limits: null }, { version: null })).rejects.toThrow(ConflictError);
    const changed = await plans.put('client-plan', { limits: null }, { version: created.version });
    expect(await plans.get('client-plan')).toEqual(changed);
    expect(await collected(plans.list({ limit: 1 }))).toContainEqual(changed);
    const stale = { version: created.version };
    await expect(plans.delete('client-plan', stale)).rejects.toMatchObject({ code: 'plan_changed', status: 412 });
    await plans.delete('client-plan', { version: changed.version });
    await expect(plans.get('client-plan')).rejects.toThrow(NotFoundError);
    const { data } = await audit.list({ limit: 3 }).page();
    expect(data.map(({ action }) => action)).toEqual(['plan.deleted', 'plan.changed', 'plan.created']);
    expect(await collected(audit.list({ accountId: account.id }))).toEqual([]);
  });

  it('streams events', async () => {
    const sluice = client();
    const stop = new AbortController();
    let sent = '';
    const onConnect = () => void sluice.messages.send('hello').then(({ id }) => (sent = id));
    for await (const { id, type, message } of sluice.events({ signal: stop.signal, onConnect })) {
      expect(id).toMatch(/^\d+-\d+-\d+$/);
      expect([type, message.message]).toEqual(['message.queued', 'hello']);
      stop.abort();
    }
    expect(sent).toMatch(/^msg_/);
  });

  it('has now called every operation of the API', () => {
    const { paths } = JSON.parse(readFileSync(process.env.TEST_OPENAPI ?? '', 'utf8')) as Document;
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => {
        return { operationId, route: `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}` };
      }),
    );
    const wanted = operations.filter(({ operationId }) => !PAGES.includes(operationId));
    expect([...called].sort()).toEqual(wanted.map(({ route }) => route).sort());
  });
});
