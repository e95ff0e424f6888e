import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { accountOf, ownApi, type Account } from '../support/api.js';
import { missing, Visitor } from './visitor.js';

const run = promisify(execFile);

describeUnless(missing)('In the portal, a visitor is told what to do next', () => {
  let fleet: Fleet;
  let account: Account;
  const visitor = Visitor.forEach();
  const visit = (hash: string) => visitor.visit(fleet.client.url, account.key, hash);
  const ask = (route: string, body?: object) => fleet.client.ask(account, route, body);
  const endpoint = async (more: object = {}) =>
    String((await ask('POST /endpoints', { url: 'https://example.com/own', ...more })).body.id);

  /** What the command answers that is shown and copied. */
  const pasted = async (label: string): Promise<unknown> => {
    const { page } = visitor;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    expect(await page.getByLabel(label).innerText()).not.toContain(account.key);
    await page.locator('.command-header').getByRole('button', { name: 'Copy the command' }).click();
    await page.getByText('The command is copied.').waitFor();
    const command = String(await page.evaluate('navigator.clipboard.readText()'));
    return JSON.parse((await run('sh', ['-c', command])).stdout);
  };

  beforeAll(async () => {
    fleet = await Fleet.start();
  });
  afterAll(() => fleet.stop());
  beforeEach(async () => {
    account = await fleet.client.signUp();
  });

  it.each([
    ['without an endpoint', () => Promise.resolve(), 1],
    ['with a disabled endpoint', () => endpoint({ enabled: false }), 1],
    ['with an endpoint', () => endpoint(), 0],
  ] as const)('who chooses webhooks %s, before and after', async (_what, prepare, warnings) => {
    const { page } = visitor;
    await prepare();
    await visit('#/settings');
    const warning = page.getByText('No endpoint is enabled');
    await page.getByRole('radio', { name: /^Worker/ }).waitFor();
    expect(await warning.count()).toBe(0);
    const looked = page.waitForResponse((response) => response.url().includes('/endpoints'));
    await page.getByRole('radio', { name: /^Webhooks/ }).check();
    await looked;
    await until(async () => (await warning.count()) === warnings);
    await visitor.button('Save').click();
    await until(async () => (await ask('GET /account')).body.delivery === 'webhooks');
    await until(async () => (await warning.count()) === warnings);
    await page.getByRole('link', { name: 'Send', exact: true }).click();
    await page.getByText('It is posted to the endpoints that are enabled then.').waitFor();
    await until(async () => (await warning.count()) === warnings);
    if (warnings === 0) return;
    await visitor.expectGoodLooks('portal-no-endpoint');
    expect(await pasted('A command that adds an endpoint')).toMatchObject({ url: 'https://example.com/hooks' });
    await page.reload();
    await page.getByText('It is posted to the endpoints that are enabled then.').waitFor();
    await until(async () => (await warning.count()) === 0);
  });

  it('who chooses to pull, with a request that leases messages', async () => {
    const { page } = visitor;
    await visit('#/settings');
    await page.getByRole('radio', { name: /^Pull/ }).check();
    await page.getByLabel('A command that leases messages').getByText(`${fleet.client.url}/messages/lease`).waitFor();
    await visitor.expectGoodLooks('portal-pull');
    await visitor.button('Save').click();
    await until(async () => (await ask('GET /account')).body.delivery === 'pull');
    await fleet.client.sent(account, { message: 'pulled' });
    expect(await pasted('A command that leases messages')).toMatchObject({ data: [{ message: 'pulled' }] });
  });

  it('who sends a message that nobody gets', async () => {
    const { page } = visitor;
    await ask('PATCH /account', { delivery: 'webhooks' });
    await visit('#/send');
    await page.getByRole('link', { name: 'add or enable one' }).waitFor();
    await page.getByLabel('Message', { exact: true }).focus();
    await page.keyboard.press('Control+Enter');
    const sent = page.locator('.sent');
    await sent.getByText('no endpoint was enabled when it was accepted').waitFor();
    for (const text of ['stored and queued', 'after 0', 'no_endpoint']) {
      expect([text, await page.getByText(text).count()]).toEqual([text, 0]);
    }
    await visitor.expectGoodLooks('portal-send-no-endpoint');
    await sent.getByRole('link', { name: 'add or enable one' }).click();
    await page.getByText('Add your first endpoint').waitFor();
  });

  it('whose endpoint would be on the own machine', async () => {
    const { page } = visitor;
    visitor.expects('400');
    await visit('#/endpoints');
    await page.getByRole('link', { name: 'choose webhooks' }).waitFor();
    await visitor.button('Add an endpoint').first().click();
    await page.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:3000/hook');
    await visitor.button('Add the endpoint').click();
    const error = await page.getByText('url must not contain a private address').innerText();
    expect(error).toContain('sluice listen');
    expect(error).toContain('WEBHOOK_ALLOW_PRIVATE');
  });

  it('whose message had no endpoint', async () => {
    const { page } = visitor;
    await ask('PATCH /account', { delivery: 'webhooks' });
    const { id } = await fleet.client.sent(account);
    await visit(`#/messages/${id}`);
    await page.getByText('None: no endpoint was enabled when it was accepted.').waitFor();
    expect(await page.getByText(/None yet|no_endpoint/).count()).toBe(0);
  });

  it('who replays nothing, and is offered no replay to a disabled endpoint', async () => {
    const { page } = visitor;
    await ask('PATCH /account', { delivery: 'webhooks' });
    const id = await endpoint();
    await fleet.client.sent(account);
    await visit(`#/endpoints/${id}`);
    await visitor.button('Replay messages').click();
    await visitor.button('Replay').click();
    await page.getByText('Nothing to replay').waitFor();
    await visitor.button('Cancel').click();
    await visitor.button('Disable').click();
    await visitor.button('Enable').waitFor();
    expect(await visitor.button('Replay messages').count()).toBe(0);
    await page.goto(`${fleet.client.url}/#/messages?endpointId=${id}`);
    await page.getByLabel('Select all that are shown').check();
    await visitor.button('Select all that match').click();
    await page.getByText('Nothing is replayed to a disabled endpoint').waitFor();
    expect(await visitor.button('Replay').count()).toBe(0);
    await page.getByRole('link', { name: 'enable it' }).click();
    await visitor.button('Enable').click();
    await visitor.button('Replay messages').waitFor();
  });
});

describeUnless(missing)('In the portal of a service without SECRETS_KEY', () => {
  const api = ownApi({ SECRETS_KEY: '' });
  const account = accountOf(api);
  const visitor = Visitor.forEach();

  it('a visitor learns before and after choosing webhooks that nothing is posted', async () => {
    const { page } = visitor;
    visitor.expects('403');
    await visitor.visit(api.url, account.key, '#/settings');
    await page.getByRole('radio', { name: /^Webhooks/ }).check();
    const warning = page.getByText('Webhooks are not enabled here');
    await warning.waitFor();
    await visitor.button('Save').click();
    await page.getByRole('link', { name: 'Send', exact: true }).click();
    await warning.waitFor();
    await page.getByLabel('A command that makes a SECRETS_KEY').getByText('openssl rand -hex 32').waitFor();
    await visitor.expectGoodLooks('portal-no-secrets-key');
  });
});
