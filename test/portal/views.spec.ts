import type { Page } from 'playwright-core';
import { OPERATOR, type Account } from '../support/api.js';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';

const HOUR_MS = 3_600_000;

interface View {
  readonly name: string;
  /** Given the ids of a message and of an endpoint. */
  readonly hash: (ids: { message: string; endpoint: string }) => string;
  readonly isPublic?: boolean;
  /** What has to be there. */
  readonly shows: string;
  readonly prepare?: (page: Page) => Promise<void>;
}

const click = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).click();

const VIEWS: readonly View[] = [
  { name: 'sign-up', hash: () => '', isPublic: true, shows: 'Create an account' },
  { name: 'sign-in', hash: () => '#/sign-in', isPublic: true, shows: 'The open tabs of this browser share it' },
  { name: 'overview', hash: () => '#/overview', shows: 'Last failed messages' },
  { name: 'send', hash: () => '#/send', shows: 'delivered', prepare: click('Send the message') },
  { name: 'messages', hash: () => '#/messages', shows: 'Order 4711 is paid' },
  { name: 'no-messages', hash: () => '#/messages?status=cancelled', shows: 'No messages are cancelled' },
  { name: 'message', hash: ({ message }) => `#/messages/${message}`, shows: 'as requested' },
  { name: 'usage', hash: () => '#/usage', shows: 'open or cancelled' },
  { name: 'keys', hash: () => '#/keys', shows: 'first key' },
  { name: 'create-key', hash: () => '#/keys', shows: 'What the key is for.', prepare: click('Create a key') },
  { name: 'webhooks', hash: () => '#/endpoints', shows: 'https://example.com/hooks' },
  { name: 'endpoint', hash: ({ endpoint }) => `#/endpoints/${endpoint}`, shows: 'Recent deliveries' },
  { name: 'settings', hash: () => '#/settings', shows: 'Pause deliveries' },
  { name: 'simulator', hash: () => '#/simulator', shows: 'refused with 429', prepare: click('Simulate') },
];

describeUnless(missing)('Every view', () => {
  let fleet: Fleet;
  let account: Account;
  const ids = { message: '', endpoint: '' };
  const visitor = Visitor.forEach();

  beforeAll(async () => {
    fleet = await Fleet.start({ MAX_ATTEMPTS: '2' });
    await fleet.worker();
    account = await signUp('Acme');
    await fill();
  });
  afterAll(() => fleet.stop());

  async function signUp(name: string): Promise<Account> {
    const { id, apiKey } = (await fleet.client.ask(null, 'POST /accounts', { name })).body as {
      id: string;
      apiKey: { id: string; key: string };
    };
    await fleet.client.ask(OPERATOR, `PATCH /admin/accounts/${id}`, { plan: 'pro' });
    return { id, keyId: apiKey.id, key: apiKey.key };
  }

  async function fill(): Promise<void> {
    const { client } = fleet;
    const fields = { type: 'order.paid', metadata: { region: 'eu' } };
    ids.message = (await client.sent(account, { body: { message: 'throw', ...fields } })).id;
    const texts = [
      'Order 4710 is paid',
      '{"event":"invoice.paid","amount":12900}',
      'مرحبا بالعالم',
      'Order 4711 is paid',
    ];
    for (const message of texts) await client.sent(account, { message });
    const deliverAt = new Date(Date.now() + HOUR_MS).toISOString();
    await client.sent(account, { body: { message: 'Good morning', deliverAt } });
    const expiresAt = new Date(Date.now() + 72 * HOUR_MS).toISOString();
    await client.createKey(account, { name: 'billing', scopes: ['messages:send'], expiresAt });
    await fleet.sql(
      `INSERT INTO sluice.usage (account_id, start, accepted, accepted_bytes, delivered, failed, cancelled)
       SELECT $1, date_trunc('hour', now(), 'UTC') - n * interval '1 hour', 40 + n * 7 % 30, 4000, 30 + n * 7 % 30, n % 4, 2
       FROM generate_series(1, 700) AS n`,
      [account.id],
    );
    const endpoint = { url: 'https://example.com/hooks', description: 'orders' };
    ids.endpoint = String((await client.ask(account, 'POST /endpoints', endpoint)).body.id);
    // A request would count towards the limit of the account, which the views need.
    const failed = `SELECT FROM sluice.messages WHERE id = $1 AND status = 'failed'`;
    await until(async () => (await fleet.sql(failed, [ids.message])).length === 1);
  }

  it.each(VIEWS)('$name is accessible and fits, in both themes and on a phone', async (view) => {
    const { page } = visitor;
    await page.setViewportSize({ width: 1440, height: 900 });
    if (view.isPublic === true) await page.goto(`${fleet.client.url}/${view.hash(ids)}`);
    else await visitor.visit(fleet.client.url, account.key, view.hash(ids));
    await view.prepare?.(page);
    await page.getByText(view.shows).first().waitFor();
    await visitor.expectGoodLooks(`portal-${view.name}`);
  });

  it.each(VIEWS.filter(({ isPublic, prepare }) => isPublic !== true && prepare === undefined))(
    '$name stays where it is while its responses arrive one after another',
    async (view) => {
      const open = () => visitor.visit(fleet.client.url, account.key, view.hash(ids));
      expect(await visitor.shiftWhileLoading(open, view.shows)).toBeLessThan(0.05);
    },
  );
});
