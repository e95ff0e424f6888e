import { Fleet } from '../support/fleet.js';
import { describeUnless } from '../support/skipping.js';
import type { Account } from '../support/api.js';
import { missing, Visitor } from './visitor.js';

describeUnless(missing)('In the portal, a visitor is told what to do next', () => {
  let fleet: Fleet;
  let account: Account;
  const visitor = Visitor.forEach();
  const visit = (hash: string) => visitor.visit(fleet.client.url, account.key, hash);
  const ask = (route: string, body?: object) => fleet.client.ask(account, route, body);
  const endpoint = async (more: object = {}) =>
    String((await ask('POST /endpoints', { url: 'https://example.com/hooks', ...more })).body.id);

  beforeAll(async () => {
    fleet = await Fleet.start();
  });
  afterAll(() => fleet.stop());
  beforeEach(async () => {
    account = await fleet.client.signUp();
  });

  it.each([
    ['without an endpoint', () => Promise.resolve(''), 1],
    ['with a disabled endpoint', () => endpoint({ enabled: false }), 1],
    ['with an endpoint', () => endpoint(), 0],
  ] as const)('who chooses webhooks %s, before and after', async (_what, prepare, warnings) => {
    const { page } = visitor;
    const id = await prepare();
    await visit('#/endpoints');
    await page.getByText(id === '' ? 'Add your first endpoint' : 'https://example.com/hooks').waitFor();
    const warning = page.getByText('No endpoint is enabled');
    expect(await warning.count()).toBe(0);
    await page.getByRole('radio', { name: /^Webhooks/ }).check();
    expect(await warning.count()).toBe(warnings);
    await visitor.button('Save').click();
    await page.locator('button[type=submit][aria-disabled=true]').waitFor();
    expect(await warning.count()).toBe(warnings);
    if (warnings > 0) await visitor.expectGoodLooks('portal-no-endpoint');
  });

  it('who chooses to pull, with a request that leases messages', async () => {
    const { page } = visitor;
    await visit('#/endpoints');
    await page.getByRole('radio', { name: /^Pull/ }).check();
    await page.getByLabel('A command that leases messages').getByText(`${fleet.client.url}/messages/lease`).waitFor();
    await visitor.expectGoodLooks('portal-pull');
  });

  it('whose message had no endpoint', async () => {
    const { page } = visitor;
    await ask('PATCH /account', { delivery: 'webhooks' });
    const { id } = await fleet.client.sent(account);
    await visit(`#/messages/${id}`);
    await page.getByText('None: no endpoint was enabled when it was accepted.').waitFor();
    expect(await page.getByText('None yet').count()).toBe(0);
  });

  it('who replays nothing, and is offered no replay to a disabled endpoint', async () => {
    const { page } = visitor;
    await visit(`#/endpoints/${await endpoint()}`);
    await visitor.button('Replay messages').click();
    await visitor.button('Replay').click();
    await page.getByText('Nothing to replay').waitFor();
    await visitor.button('Cancel').click();
    await visitor.button('Disable').click();
    await visitor.button('Enable').waitFor();
    expect(await visitor.button('Replay messages').count()).toBe(0);
  });
});
