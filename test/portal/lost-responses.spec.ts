import { accountForEach, OPERATOR, sharedApi } from '../support/api.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';

describeUnless(missing)('A form that is sent again after a lost response makes one', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const visitor = Visitor.forEach();
  const dialog = () => visitor.page.getByRole('dialog');
  const open = (hash: string) => visitor.visit(api.url, account.key, hash);

  async function openOperators(hash: string): Promise<void> {
    await visitor.page.addInitScript(`sessionStorage.setItem('sluice.operators-key', ${JSON.stringify(OPERATOR.key)})`);
    await visitor.page.goto(`${api.managementUrl}/${hash}`);
  }

  async function fillKey(): Promise<void> {
    await visitor.button('Create a key').click();
    await dialog().getByLabel('Name').fill('billing');
    await visitor.page.getByLabel('Send, cancel and retry messages').check();
    await dialog().getByLabel('Expires').selectOption('In 30 days');
  }

  it.each<[what: string, button: string, fill: () => Promise<void>]>([
    [
      'account, by operators',
      'Create the account',
      async () => {
        await openOperators('#/accounts');
        await visitor.button('Create an account').click();
        await dialog().getByLabel('Name').fill('Acme');
      },
    ],
    [
      'key, by operators',
      'Create the key',
      async () => {
        await openOperators(`#/accounts/${account.id}`);
        await fillKey();
      },
    ],
    [
      'portal link',
      'Create the link',
      async () => {
        await openOperators(`#/accounts/${account.id}`);
        await visitor.button('Create a portal link').click();
      },
    ],
    [
      'key',
      'Create the key',
      async () => {
        await open('#/keys');
        await fillKey();
      },
    ],
    [
      'key in place of another',
      'Rotate the key',
      async () => {
        await open('#/keys');
        await visitor.page.getByRole('button', { name: /^Rotate/ }).click();
      },
    ],
    [
      'endpoint',
      'Add the endpoint',
      async () => {
        await open('#/endpoints');
        await visitor.button('Add an endpoint').first().click();
        await dialog().getByLabel('URL', { exact: true }).fill('https://example.com/hooks');
      },
    ],
    [
      'secret in place of another',
      'Rotate the secret',
      async () => {
        const { id } = (await api.ask(account, 'POST /endpoints', { url: 'https://example.com/hooks' })).body;
        await open(`#/endpoints/${String(id)}`);
        await visitor.button('Rotate the secret').click();
      },
    ],
  ])('%s', async (_what, button, fill) => {
    visitor.expects('net::');
    const { page } = visitor;
    await fill();
    const made: string[] = [];
    await page.route(
      () => true,
      async (route) => {
        if (route.request().method() !== 'POST') return route.fallback();
        const response = await route.fetch();
        made.push(await response.text());
        return made.length === 1 ? route.abort('connectionreset') : route.fulfill({ response });
      },
    );
    await dialog().getByRole('button', { name: button }).click();
    await dialog().getByRole('alert').waitFor();
    await dialog().getByRole('button', { name: button }).click();
    await visitor.button('I have stored it').waitFor();
    expect(made).toHaveLength(2);
    expect(made[1]).toBe(made[0]);
  });
});
