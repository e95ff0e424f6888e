import { OPERATOR, ownApi, type Account, type Key } from '../../support/api.js';
import { Receiver } from '../../support/receiver.js';

/** A change that takes no Idempotency-Key: whoever loses its response sends it again. */
interface Case {
  readonly name: string;
  readonly route: () => Promise<string>;
  readonly body?: object;
  readonly by?: () => Key;
  readonly status?: number;
  readonly repeated?: number;
}

describe('A change without an Idempotency-Key has the same effect when it is repeated', () => {
  const api = ownApi({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  let receiver: Receiver;
  let account: Account;
  let endpointId: string;
  beforeAll(async () => {
    receiver = await Receiver.start();
  });
  afterAll(() => {
    receiver.stop();
  });
  beforeEach(async () => {
    account = await api.signUp();
    endpointId = String((await api.ask(account, 'POST /endpoints', { url: receiver.url('/hooks') })).body.id);
    await api.sql(`UPDATE sluice.endpoints SET failing_since = now() - interval '1 hour'`);
    await api.sent(account);
    const others = [await api.createKey(account), await api.createKey(account)];
    for (const { id } of others) {
      await api.sql(
        `INSERT INTO sluice.offences (key_id, account_id, bans, banned_at_ms, banned_until_ms, reason)
         VALUES ($1, $2, 1, $3, $4, 'went on')`,
        [id, account.id, Date.now(), Date.now() + 3_600_000],
      );
    }
    banned = others[0]?.id ?? '';
  });
  let banned = '';

  const own = () => Promise.resolve('PATCH /account');
  const endpoint = () => Promise.resolve(`PATCH /endpoints/${endpointId}`);
  const admin = () => Promise.resolve(`PATCH /admin/accounts/${account.id}`);
  const operator = () => OPERATOR;
  const cases: readonly Case[] = [
    { name: 'the mode of delivery', route: own, body: { delivery: 'pull' } },
    { name: 'a pause', route: own, body: { paused: true } },
    { name: 'the end of a pause', route: own, body: { paused: false } },
    { name: 'both', route: own, body: { paused: true, delivery: 'webhooks' } },
    { name: 'a URL', route: endpoint, body: { url: 'http://127.0.0.1:9/other' } },
    { name: 'a description', route: endpoint, body: { description: 'orders' } },
    { name: 'a rate limit', route: endpoint, body: { rateLimitPerSecond: 5 } },
    { name: 'disabling an endpoint', route: endpoint, body: { enabled: false } },
    {
      name: 'enabling an endpoint',
      route: async () => {
        await api.ask(account, await endpoint(), { enabled: false });
        return endpoint();
      },
      body: { enabled: true },
    },
    { name: 'a test of an endpoint', route: () => Promise.resolve(`POST /endpoints/${endpointId}/test`) },
    { name: 'a plan', route: admin, by: operator, body: { plan: 'pro' } },
    {
      name: 'agreed limits',
      ...{ route: admin, by: operator, body: { plan: 'enterprise', limits: { perMinute: 5_000, perDay: 9_000 } } },
    },
    { name: 'the plan of agreed limits', route: admin, by: operator, body: { plan: 'enterprise' } },
    { name: 'a suspension', route: admin, by: operator, body: { suspended: true } },
    { name: 'the end of a suspension', route: admin, by: operator, body: { suspended: false } },
    { name: 'a pause by an operator', route: admin, by: operator, body: { paused: true } },
    {
      ...{ name: 'lifting a ban', by: operator, status: 204, repeated: 404 },
      route: () => Promise.resolve(`DELETE /admin/bans/${banned}`),
    },
  ];

  /** All that these calls can change. */
  const state = () =>
    api.sql(
      `SELECT (SELECT to_jsonb(a) - 'epoch' FROM sluice.accounts a WHERE id = $1) AS account,
              (SELECT jsonb_agg(to_jsonb(e) ORDER BY id) FROM sluice.endpoints e WHERE account_id = $1) AS endpoints,
              (SELECT jsonb_agg(to_jsonb(k) - 'last_used_at' ORDER BY id) FROM sluice.api_keys k WHERE account_id = $1) AS keys,
              (SELECT jsonb_agg(to_jsonb(o) ORDER BY key_id) FROM sluice.offences o WHERE account_id = $1) AS offences,
              (SELECT jsonb_agg(to_jsonb(m) ORDER BY id) FROM sluice.messages m WHERE account_id = $1) AS messages,
              (SELECT jsonb_agg(to_jsonb(d)) FROM sluice.endpoint_deliveries d WHERE account_id = $1) AS deliveries`,
      [account.id],
    );

  it.each(cases)('$name', async ({ name, route, body, by = () => account, status = 200, repeated = status }) => {
    const path = await route();
    const first = await api.ask(by(), path, body);
    expect(first.status).toBe(status);
    const after = await state();
    const again = [
      await api.ask(by(), path, body),
      ...(await Promise.all([1, 2].map(() => api.ask(by(), path, body)))),
    ];
    for (const response of again) {
      expect(response.status).toBe(repeated);
      // A test says how long it has taken.
      if (status === repeated && !name.includes('test')) expect(response.body).toEqual(first.body);
    }
    expect(await state()).toEqual(after);
  });
});
