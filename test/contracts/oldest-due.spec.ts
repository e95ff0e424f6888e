import { oldestDue } from '#webhooks/adapters/postgres/oldest-due.js';
import { WebhookStore } from './webhook-store.js';

describe('The age of the oldest delivery to an endpoint', () => {
  let webhooks: WebhookStore;
  let endpoint: string;
  let account: string;

  beforeAll(async () => {
    webhooks = await WebhookStore.open();
  });
  beforeEach(async () => {
    await sql('DELETE FROM sluice.endpoint_deliveries');
    account = await webhooks.account();
    endpoint = await webhooks.endpoint(account);
  });
  afterAll(() => webhooks.store.close());

  const sql = (text: string, values: unknown[] = []) => webhooks.store.sql(text, values);
  const due = (id: string, at: string, ready = true) =>
    sql(
      `INSERT INTO sluice.endpoint_deliveries (message_id, endpoint_id, account_id, due_at, ready)
       VALUES ('msg_' || gen_random_uuid(), $1, $2, $3::timestamptz, $4)`,
      [id, account, at, ready],
    );
  const age = async () => Math.round((await oldestDue(webhooks.process.database)) / 100) * 100;
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();

  it('is 0 without any that is due', async () => {
    expect(await age()).toBe(0);
    await due(endpoint, ago(-600), false);
    await due(endpoint, 'infinity');
    expect(await age()).toBe(0);
  });

  it('is that of the one that has been due for longest, at any endpoint', async () => {
    const others = [await webhooks.endpoint(account), await webhooks.endpoint(account)];
    await due(endpoint, ago(200));
    for (const [index, other] of others.entries()) await due(other, ago(500 - 200 * index));
    await due(endpoint, ago(100));
    expect(await age()).toBe(500);
  });

  it.each([
    [
      'its endpoint has a limit',
      () => sql('UPDATE sluice.endpoints SET rate_limit_per_second = 1 WHERE id = $1', [endpoint]),
    ],
    ['its account is paused', () => sql('UPDATE sluice.accounts SET paused = true WHERE id = $1', [account])],
    ['its account is suspended', () => sql('UPDATE sluice.accounts SET suspended = true WHERE id = $1', [account])],
  ])('does not count one that waits because %s', async (_, hold) => {
    await due(endpoint, ago(500));
    expect(await age()).toBe(500);
    await hold();
    expect(await age()).toBe(0);
  });
});
