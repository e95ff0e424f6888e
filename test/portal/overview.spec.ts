import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';
import { Receiver } from '../support/receiver.js';
import { describeUnless } from '../support/skipping.js';
import type { Account } from '../support/api.js';
import { missing, Visitor } from './visitor.js';

describeUnless(missing)('The overview of the portal', () => {
  let fleet: Fleet;
  let receiver: Receiver;
  let account: Account;
  let failed = '';
  const visitor = Visitor.forEach();
  const visit = (hash: string) => visitor.visit(fleet.client.url, account.key, hash);
  const ask = (route: string, body?: object) => fleet.client.ask(account, route, body);

  beforeAll(async () => {
    fleet = await Fleet.start({ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_RETRY_SECONDS: '1' });
    await fleet.worker();
    receiver = await Receiver.start();
    account = await fleet.client.signUp();
    await ask('PATCH /account', { delivery: 'webhooks' });
    await ask('POST /endpoints', { url: receiver.url('/works', 204), description: 'works' });
    await ask('POST /endpoints', { url: receiver.url('/fails', 503), description: 'orders of <b>Acme</b>' });
    failed = (await fleet.client.sent(account, { message: 'Order 4711 is paid' })).id;
    await until(async () => (await ask(`GET /messages/${failed}`)).body.status === 'failed', 60_000);
    const hour = new Date(new Date().setUTCMinutes(0, 0, 0));
    await fleet.sql(
      `INSERT INTO sluice.usage (account_id, start, accepted, accepted_bytes, delivered, failed, cancelled)
       SELECT $1, $2::timestamptz - n * interval '1 hour', 40 + n, 4000, 30 + n, n % 4, 2 FROM generate_series(2, 20) AS n`,
      [account.id, hour],
    );
    const deliverAt = new Date(Date.now() + 3_600_000).toISOString();
    await fleet.client.sent(account, { body: { message: 'Good morning', deliverAt } });
  });
  afterAll(async () => {
    receiver.stop();
    await fleet.stop();
  });

  it('is the first page, accessible, and fits', async () => {
    const { page } = visitor;
    await visit('');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('Resets in').first().waitFor();
    await page.getByRole('img', { name: /accepted, .* of them delivered, .* failed/ }).waitFor();
    expect(page.url()).toMatch(/#\/overview$/);
    await page.getByText('As a table').click();
    await page.getByText('From (UTC)').waitFor();
    await visitor.expectGoodLooks('portal-overview');
  });

  it('leads from the numbers of each hour to their messages, by the table and by the chart', async () => {
    const { page } = visitor;
    await visit('#/overview');
    await page.getByText('As a table').click();
    const row = page.getByRole('row').nth(1);
    await row.getByRole('link').nth(2).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Newest first').waitFor();
    expect(page.url()).toMatch(/#\/messages\?status=failed&since=[^&]+%3A00%3A00.000Z&until=[^&]+%3A00%3A00.000Z$/);
    await page.goBack();
    await page.locator('rect.delivered').nth(5).click();
    await page.getByText('Newest first').waitFor();
    expect(page.url()).toMatch(/#\/messages\?since=[^&]+%3A00%3A00.000Z&until=[^&]+%3A00%3A00.000Z$/);
  });

  it.each(['refreshed', 'loaded again'])('shows what was changed elsewhere once it is %s', async (how) => {
    const { page } = visitor;
    const failing = page.getByRole('link', { name: /^orders of <b>Acme<\/b>/ }).first();
    await ask('PATCH /account', { delivery: 'handler' });
    await visit('#/overview');
    await page.getByText('None.', { exact: true }).waitFor();
    await ask('PATCH /account', { delivery: 'webhooks' });
    if (how === 'refreshed') await visitor.button('Refresh').click();
    else await page.reload();
    await page.getByText('None.', { exact: true }).waitFor({ state: 'detached' });
    await failing.waitFor();
  });

  it('leads to what waits, to what has failed last, and to all of that', async () => {
    const { page } = visitor;
    await visit('#/overview');
    await page.getByRole('region', { name: 'Scheduled' }).getByRole('link').click();
    await page.getByText('Good morning').waitFor();
    expect(page.url()).toMatch(/#\/messages\?status=queued$/);
    await page.goBack();
    const last = page.getByRole('region', { name: 'Last failed messages' });
    await last.getByRole('link', { name: 'Show all' }).click();
    await page.getByText('Order 4711 is paid').waitFor();
    expect(page.url()).toMatch(/#\/messages\?status=failed$/);
    await page.goBack();
    await last.getByText('orders of <b>Acme</b>: ').waitFor();
    await last.getByRole('link', { name: 'Order 4711 is paid' }).click();
    await page.getByText(failed).waitFor();
    await page
      .getByText(/^orders of <b>Acme<\/b>: .*503/)
      .first()
      .waitFor();
  });

  it('has no lists for a key that may not read messages', async () => {
    const { key } = await fleet.client.createKey(account, { scopes: ['account:manage'] });
    const { page } = visitor;
    await visitor.visit(fleet.client.url, key);
    await page.getByText('Endpoints that fail').waitFor();
    expect(await page.locator('main a[href^="#/messages"]').count()).toBe(0);
    expect(await page.getByText('Last failed messages').count()).toBe(0);
  });

  it('leads from an endpoint that fails to what it missed, which is replayed', async () => {
    const { page } = visitor;
    await visit('#/overview');
    const failing = page.getByRole('region', { name: 'Endpoints that fail' });
    await failing.getByText('failing since').waitFor();
    expect(await failing.getByText('works').count()).toBe(0);
    await failing.getByRole('link', { name: 'Messages that failed at orders of <b>Acme</b>' }).click();
    await page.getByText('Order 4711 is paid').waitFor();
    expect(page.url()).toMatch(/#\/messages\?endpointId=ep_\w+&status=failed$/);
    const chosen = page.getByLabel('Endpoint').locator('option:checked', { hasText: 'orders of <b>Acme</b>' });
    await chosen.waitFor({ state: 'attached' });
    await until(async () => (await page.title()) === 'Failed messages of orders of <b>Acme</b> · Sluice');
    expect(await page.getByRole('navigation', { name: 'Filter by status' }).getByRole('link').allInnerTexts()).toEqual([
      ...['All', 'Delivered', 'Failed'],
    ]);
    await page.getByLabel('Select all that are shown').check();
    await visitor.button('Select all that match').click();
    await visitor.button('Replay').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 failed message.').waitFor();
    await visitor.expectGoodLooks('portal-replay-many');
    await dialog.getByRole('button', { name: 'Replay' }).click();
    await dialog.getByText('1 message is posted to the endpoint again.').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
  });
});
