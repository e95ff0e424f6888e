import { randomUUID } from 'node:crypto';
import { expectProblem, OPERATOR, ownApi, pageOf, type Account, type Key } from '../../support/api.js';
import type { HttpResponse } from '../../support/http.js';

/** A management call that is repeated because its response was lost. */
interface Case {
  readonly name: string;
  readonly route: string | (() => Promise<string>);
  readonly body?: object;
  readonly other?: object;
  readonly by?: () => Key | null;
  readonly status: number;
}

describe('A management call that is repeated with its Idempotency-Key', () => {
  const api = ownApi({ SIGNUPS_PER_HOUR: '1000000', WEBHOOK_ALLOW_PRIVATE: 'true' });
  let account: Account;
  let spare: Account;
  beforeEach(async () => {
    account = await api.signUp();
    spare = { ...account, ...(await createdKey('spare')) };
  });

  const createdKey = async (name: string) => {
    const { id, key } = await api.createKey(account, { name });
    return { keyId: id, key };
  };
  const endpoint = async () => {
    const made = await api.ask(account, 'POST /endpoints', { url: 'http://127.0.0.1:9/hooks' });
    return String(made.body.id);
  };
  const message = async (status: string) => {
    const { id } = await api.sent(account, { message: randomUUID() });
    if (status !== 'queued') await api.become(id, status);
    return id;
  };
  const plan = async () => {
    const name = `plan-${randomUUID()}`.slice(0, 40);
    await api.ask(OPERATOR, `PUT /admin/plans/${name}`, { limits: { perMinute: 1, perDay: 1 } });
    return name;
  };
  const bannedKey = async () => {
    const { keyId } = await createdKey('banned');
    await api.sql(
      `INSERT INTO sluice.offences (key_id, account_id, bans, banned_at_ms, banned_until_ms, reason)
       VALUES ($1, $2, 1, $3, $4, 'went on')`,
      [keyId, account.id, Date.now(), Date.now() + 3_600_000],
    );
    return keyId;
  };
  const everything = () => new Date(Date.now() + 60_000).toISOString();

  const cases: Case[] = [
    {
      name: 'sign-up',
      route: 'POST /accounts',
      body: { name: 'A' },
      other: { name: 'B' },
      by: () => null,
      status: 201,
    },
    { name: 'creating a key', route: 'POST /api-keys', body: { name: 'A' }, other: { name: 'B' }, status: 201 },
    {
      ...{ name: 'rotating a key', body: {}, other: { graceSeconds: 60 }, status: 201 },
      route: () => Promise.resolve(`POST /api-keys/${account.keyId}/rotate`),
    },
    {
      ...{ name: 'rotating its own key with a grace', body: { graceSeconds: 60 }, other: {}, status: 201 },
      ...{ route: () => Promise.resolve(`POST /api-keys/${spare.keyId}/rotate`) },
    },
    { name: 'revoking a key', route: () => Promise.resolve(`DELETE /api-keys/${account.keyId}`), status: 204 },
    {
      ...{ name: 'creating an endpoint', route: 'POST /endpoints', status: 201 },
      ...{ body: { url: 'http://127.0.0.1:9/a' }, other: { url: 'http://127.0.0.1:9/b' } },
    },
    {
      ...{ name: 'rotating a secret', body: {}, other: { graceSeconds: 60 }, status: 200 },
      route: async () => `POST /endpoints/${await endpoint()}/rotate-secret`,
    },
    {
      ...{ name: 'replaying', status: 202 },
      ...{ body: { since: '2026-01-01T00:00:00Z' }, other: { since: '2026-01-02T00:00:00Z' } },
      route: async () => `POST /endpoints/${await endpoint()}/replay`,
    },
    { name: 'deleting an endpoint', route: async () => `DELETE /endpoints/${await endpoint()}`, status: 204 },
    { name: 'retrying a message', route: async () => `POST /messages/${await message('failed')}/retry`, status: 202 },
    {
      name: 'cancelling a message',
      route: async () => `POST /messages/${await message('queued')}/cancel`,
      status: 200,
    },
    {
      ...{ name: 'cancelling all that is queued', status: 202, body: { type: 'order.*' }, other: {} },
      route: async () => ((await message('queued')) ? 'POST /messages/cancel' : ''),
    },
    {
      ...{ name: 'retrying all that failed', status: 202 },
      ...{ body: { since: '2026-01-01T00:00:00Z', until: everything() } },
      ...{ other: { since: '2026-01-02T00:00:00Z', until: everything() } },
      route: async () => ((await message('failed')) ? 'POST /messages/retry' : ''),
    },
    {
      ...{ name: 'an operator that creates an account', body: { name: 'A' }, other: { name: 'B' }, by: () => OPERATOR },
      ...{ status: 201, route: 'POST /admin/accounts' },
    },
    {
      ...{ name: 'an operator that creates a key', body: { name: 'A' }, other: { name: 'B' }, by: () => OPERATOR },
      ...{ status: 201, route: () => Promise.resolve(`POST /admin/accounts/${account.id}/api-keys`) },
    },
    {
      ...{ name: 'an operator that creates a link to the portal', by: () => OPERATOR, status: 201 },
      ...{ body: { scopes: ['messages:read'] }, other: { scopes: ['messages:send'] } },
      route: () => Promise.resolve(`POST /admin/accounts/${account.id}/portal-links`),
    },
    {
      ...{ name: 'an operator that revokes a key', by: () => OPERATOR, status: 204 },
      route: () => Promise.resolve(`DELETE /admin/accounts/${account.id}/api-keys/${account.keyId}`),
    },
    {
      ...{ name: 'an operator that deletes an account', by: () => OPERATOR, status: 202 },
      route: async () => `DELETE /admin/accounts/${(await api.signUp()).id}`,
    },
    {
      ...{ name: 'an operator that deletes a plan', by: () => OPERATOR, status: 204 },
      route: async () => `DELETE /admin/plans/${await plan()}`,
    },
    {
      ...{ name: 'an operator that lifts a ban', by: () => OPERATOR, status: 204 },
      route: async () => `DELETE /admin/bans/${await bannedKey()}`,
    },
  ];

  /** What there is of all that management calls make or end, but for the times of changes and what is forgotten later. */
  const state = () =>
    api.sql(
      `SELECT (SELECT count(*)::int FROM sluice.accounts WHERE NOT deleting) AS accounts,
              (SELECT array_agg(k.id || ' ' || (revoked_at IS NULL) || ' ' || coalesce(expires_at::text, '') ORDER BY k.id)
               FROM sluice.api_keys k JOIN sluice.accounts a ON a.id = k.account_id WHERE NOT deleting) AS keys,
              (SELECT array_agg(id || md5(secrets::text) ORDER BY id) FROM sluice.endpoints) AS endpoints,
              (SELECT array_agg(id || status || retries ORDER BY id) FROM sluice.messages) AS messages,
              (SELECT array_agg(name || version ORDER BY name) FROM sluice.plans) AS plans,
              (SELECT array_agg(to_jsonb(o) ORDER BY key_id) FROM sluice.offences o) AS offences`,
    );
  const shownOf = ({ status, headers, bytes }: HttpResponse) => [status, headers.location, bytes.toString()];

  it.each(cases)('changes nothing, and gets the first response again: $name', async (one) => {
    const { route, body, other, by = () => spare, status } = one;
    const path = typeof route === 'string' ? route : await route();
    const key = { 'idempotency-key': randomUUID() };
    const first = await api.ask(by(), path, body, key);
    const after = await state();
    const encoded = path.replace(/[a-z](?=[^a-z]*$)/, (last) => `%${last.charCodeAt(0).toString(16)}`);
    const repeated = await Promise.all([path, path, path, encoded].map((same) => api.ask(by(), same, body, key)));

    expect([first.status, first.headers['idempotent-replayed']]).toEqual([status, undefined]);
    for (const response of repeated) {
      expect(shownOf(response)).toEqual(shownOf(first));
      expect(response.headers['idempotent-replayed']).toBe('true');
    }
    expect(await state()).toEqual(after);
    // The same key for other things.
    const elsewhere = path.replace(/(_\w{26}|plan-[\w-]+)(?!.*_\w{26})/, (last) =>
      last.startsWith('_') ? '_01h455vb4pex5vsknk084sn02q' : 'plan-other',
    );
    const reused = await api.ask(by(), other === undefined ? elsewhere : path, other, key);
    expectProblem(reused, 422, 'idempotency_key_reused');
    expect(await state()).toEqual(after);
    expect(await api.knows(spare)).toBe(true);
  });

  it.each(cases)(
    'makes one thing of several requests at the same time: $name',
    async ({ route, body, by = () => spare, status }) => {
      const path = typeof route === 'string' ? route : await route();
      const key = { 'idempotency-key': randomUUID() };
      const responses = await Promise.all([1, 2, 3, 4].map(() => api.ask(by(), path, body, key)));
      expect(new Set(responses.map((response) => response.bytes.toString())).size).toBe(1);
      for (const response of responses) expect(response.status).toBe(status);
    },
  );

  const url = 'http://127.0.0.1:9/same';
  const until = everything();
  it.each<[string, string, object, object]>([
    ['members in another order', 'POST /api-keys', { name: 'A', expiresAt: null }, { expiresAt: null, name: 'A' }],
    ['a field that is null', 'POST /api-keys', { name: 'A' }, { name: 'A', expiresAt: null }],
    ['a field that is unknown', 'POST /api-keys', { name: 'A' }, { name: 'A', color: 'red' }],
    [
      'headers in another order',
      'POST /endpoints',
      { url, headers: { b: '1', a: '2' } },
      { url, headers: { a: '2', b: '1' } },
    ],
    ['a filter that is null', 'POST /messages/cancel', { until }, { type: null, until, since: null }],
  ])('is the same request with %s', async (_what, route, body, same) => {
    const key = { 'idempotency-key': randomUUID() };
    const [first, repeated] = [await api.ask(spare, route, body, key), await api.ask(spare, route, same, key)];
    expect([repeated.headers['idempotent-replayed'], shownOf(repeated)]).toEqual(['true', shownOf(first)]);
  });

  it('is another request with other headers', async () => {
    const key = { 'idempotency-key': randomUUID() };
    await api.ask(spare, 'POST /endpoints', { url, headers: { a: '1', b: '2' } }, key);
    const reused = await api.ask(spare, 'POST /endpoints', { url, headers: { a: '2', b: '1' } }, key);
    expectProblem(reused, 422, 'idempotency_key_reused');
  });

  it('is 409 while the first one is in progress for 5 s', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const ask = () => api.ask(spare, 'POST /api-keys', { name: 'A' }, key);
    const during = await api.during('LOCK TABLE sluice.kept_responses IN SHARE MODE', [], ask);
    expectProblem(during, 409, 'idempotency_key_in_use');
    expect((await ask()).status).toBe(201);
  }, 120_000);

  it.each([
    ['is 409 while the work of the first one may be in progress', '0 s', 'idempotency_key_in_use'],
    ['is processed as new half a minute after a crash during the work', '30 s', 'invalid_transition'],
  ])(
    '%s',
    async (_name, ago, code) => {
      const key = { 'idempotency-key': randomUUID() };
      const route = `POST /messages/${await message('queued')}/cancel`;
      expect((await api.ask(spare, route, undefined, key)).status).toBe(200);
      await api.sql(`UPDATE sluice.kept_responses SET sealed = '', stored_at = now() - $2::interval WHERE scope = $1`, [
        account.id,
        ago,
      ]);
      expectProblem(await api.ask(spare, route, undefined, key), 409, code);
    },
    120_000,
  );

  it('is processed as new, and at once, when the first call was refused after it had begun', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const id = await message('delivered');
    expectProblem(await api.ask(spare, `POST /messages/${id}/retry`, undefined, key), 409, 'invalid_transition');
    await api.become(id, 'failed');
    expect((await api.ask(spare, `POST /messages/${id}/retry`, undefined, key)).status).toBe(202);
  });

  it('is processed as new when the first call failed or is older than 24 hours', async () => {
    const key = { 'idempotency-key': randomUUID() };
    expectProblem(await api.ask(spare, 'POST /api-keys', { name: '' }, key), 400, 'validation_failed');
    const first = await api.ask(spare, 'POST /api-keys', { name: 'A' }, key);
    await api.sql(`UPDATE sluice.kept_responses SET stored_at = now() - interval '24 hours' WHERE scope = $1`, [
      account.id,
    ]);
    const second = await api.ask(spare, 'POST /api-keys', { name: 'B' }, key);
    expect([first.status, second.status, second.body.name]).toEqual([201, 201, 'B']);
  });

  it.each(cases)('is processed as new after 24 hours, and kept anew: $name', async (one) => {
    const { route, body, by = () => spare, status } = one;
    const path = typeof route === 'string' ? route : await route();
    const key = { 'idempotency-key': randomUUID() };
    const ask = () => api.ask(by(), path, body, key);
    expect((await ask()).status).toBe(status);
    await api.sql(`UPDATE sluice.kept_responses SET stored_at = now() - interval '24 hours'`);
    const later = await ask();
    expect(later.headers['idempotent-replayed']).toBeUndefined();
    const repeated = await ask();
    if (later.status === status) expect(shownOf(repeated)).toEqual(shownOf(later));
    expect([repeated.status, repeated.headers['idempotent-replayed']]).toEqual([
      later.status,
      later.status === status ? 'true' : undefined,
    ]);
  });

  it.each([
    ['PUT /admin/plans/again', { limits: { perMinute: 7, perDay: 70 } }],
    ['PATCH /admin/accounts/:id', { suspended: true, externalId: 'customer-7' }],
    ['PATCH /admin/accounts/:id', { plan: 'enterprise', limits: { perMinute: 9, perDay: 90 } }],
  ])('is harmless without an Idempotency-Key: %s %j', async (route, change) => {
    const ask = () => api.ask(OPERATOR, route.replace(':id', account.id), change);
    const [first, again] = [await ask(), await ask()];
    expect([first.status < 300, again.status, again.body]).toMatchObject([true, 200, change]);
  });

  it.each([{ paused: true }, { paused: false }, { delivery: 'pull' }])(
    'is harmless without an Idempotency-Key: PATCH /account %j',
    async (change) => {
      const responses = await Promise.all([1, 2, 3].map(() => api.ask(spare, 'PATCH /account', change)));
      for (const { status, body } of responses) expect([status, body]).toMatchObject([200, change]);
    },
  );

  it('is specific to its account, its route and the scopes of its key', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const first = await api.ask(spare, 'POST /api-keys', { name: 'A' }, key);
    const stranger = await api.ask(await api.signUp(), 'POST /api-keys', { name: 'A' }, key);
    expect([stranger.status, stranger.body.key === first.body.key]).toEqual([201, false]);
    expectProblem(
      await api.ask(spare, `POST /api-keys/${account.keyId}/rotate`, { name: 'A' }, key),
      422,
      'idempotency_key_reused',
    );
    const manager = await api.createKey(account, { scopes: ['account:manage'] });
    expectProblem(await api.ask(manager, 'POST /api-keys', { name: 'A' }, key), 403, 'insufficient_scope');
  });

  it('keeps no key, no secret and no Idempotency-Key that the database could reveal', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const made = [
      await api.ask(spare, 'POST /api-keys', { name: 'A' }, key),
      await api.ask(spare, 'POST /endpoints', { url: 'http://127.0.0.1:9/' }, { 'idempotency-key': randomUUID() }),
    ];
    const rows = await api.sql<{ row: string }>(
      `SELECT concat_ws(' ', scope, encode(key_hash, 'escape'), encode(fingerprint, 'escape'), encode(sealed, 'escape'))
       AS row FROM sluice.kept_responses`,
    );
    for (const { row } of rows) {
      for (const secret of [made[0]?.body.key, made[1]?.body.secret, key['idempotency-key'], 'whsec_', 'slc_']) {
        expect(row).not.toContain(String(secret));
      }
    }
    expect(rows.length).toBeGreaterThan(1);
  });

  it.each(['', 'two words', 'é', 'x'.repeat(256)])('is 400 with the Idempotency-Key %j', async (value) => {
    const before = await state();
    const response = await api.ask(spare, 'POST /api-keys', { name: 'A' }, { 'idempotency-key': value });
    expectProblem(response, 400, 'validation_failed');
    expect(await state()).toEqual(before);
  });

  it.each([0, 60])(
    'never returns a key that expires with the grace of an earlier one: rotated again after %i s',
    async (graceSeconds) => {
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
      for (const given of [null, expiresAt]) {
        const old = await api.createKey(account, { expiresAt: given });
        const rotate = (seconds: number) =>
          api.ask(account, `POST /api-keys/${old.id}/rotate`, { graceSeconds: seconds });
        const made = [await rotate(60), await rotate(30), await rotate(graceSeconds)];
        expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
        expect(made.map(({ body }) => body.expiresAt)).toEqual(Array(3).fill(given));
        for (const { body } of made) expect(await api.knows(String(body.key))).toBe(true);
        expect(await api.knows(old)).toBe(graceSeconds > 0);
      }
    },
  );

  it('is not the only way to recover: operators create a key for an account that has lost its only one', async () => {
    const { id, keyId, key } = await api.signUp();
    expect((await api.ask(key, `POST /api-keys/${keyId}/rotate`)).status).toBe(201);
    expectProblem(await api.ask(key), 401, 'unauthorized');
    const made = await api.ask(OPERATOR, `POST /admin/accounts/${id}/api-keys`, { name: 'way back' });
    expect(made.status).toBe(201);
    expect(made.body.scopes).toEqual(['messages:send', 'messages:read', 'messages:consume', 'account:manage']);
    const back = String(made.body.key);
    expect((await api.send(back)).status).toBe(202);
    expect(pageOf(await api.ask(back, 'GET /api-keys')).data).toHaveLength(2);
  });

  it.each([
    [404, 'account_not_found', 'acct_01h455vb4pex5vsknk084sn02q', { name: 'A' }],
    [404, 'account_not_found', 'nothing', { name: 'A' }],
    [400, 'validation_failed', '', {}],
    [400, 'validation_failed', '', { name: 'A', scopes: ['all'] }],
    [400, 'validation_failed', '', { name: 'A', expiresAt: '2020-01-01T00:00:00Z' }],
  ])('%i %s when operators make a key for %s with %j', async (status, code, id, body) => {
    const route = `POST /admin/accounts/${id || account.id}/api-keys`;
    expectProblem(await api.ask(OPERATOR, route, body), status, code);
    expectProblem(await api.ask(account, route, { name: 'A' }), 401, 'unauthorized');
  });
});
