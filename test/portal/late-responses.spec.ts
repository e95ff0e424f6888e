import { accountForEach, OPERATOR, ownApi } from '../support/api.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';

const PLAN = { limits: { perMinute: 10, perDay: 100 }, maxStoredBytes: null, maxEndpoints: null };

describeUnless(missing)('What a visitor opened stays when the response arrives to', () => {
  const api = ownApi();
  const account = accountForEach(api);
  const visitor = Visitor.forEach();
  const visit = (hash: string) => visitor.visit(api.url, account.key, hash);

  async function visitOperators(hash: string): Promise<void> {
    await visitor.page.addInitScript(`sessionStorage.setItem('sluice.operators-key', ${JSON.stringify(OPERATOR.key)})`);
    await visitor.page.goto(`${api.managementUrl}/${hash}`);
  }

  async function visitEndpoint(): Promise<void> {
    const { id } = (await api.ask(account, 'POST /endpoints', { url: 'https://example.com/hooks' })).body;
    await visit(`#/endpoints/${String(id)}`);
  }

  /** @param meanwhile what the visitor does while the response is on its way */
  async function during(request: string, act: () => Promise<void>, meanwhile: () => Promise<void>): Promise<void> {
    const { page } = visitor;
    const [method, path] = request.split(' ') as [string, string];
    let answer = (): void => undefined;
    const left = new Promise<void>((resolve) => (answer = resolve));
    await page.route(
      ({ pathname }) => pathname.startsWith(path),
      async (route) => {
        if (route.request().method() !== method) return route.fallback();
        const response = await route.fetch();
        await left;
        return route.fulfill({ response });
      },
    );
    const asked = page.waitForRequest(
      (sent) => sent.method() === method && new URL(sent.url()).pathname.startsWith(path),
    );
    const answered = page.waitForResponse((got) => got.request().method() === method && got.url().includes(path));
    await act();
    await asked;
    await meanwhile();
    answer();
    await answered;
    // What follows a response, follows within a few frames.
    await page.waitForTimeout(300);
  }

  /** Opens `#/other` by the address, which also leaves a dialog. */
  async function leaveDuring(request: string, act: () => Promise<void>): Promise<void> {
    const { page } = visitor;
    await during(request, act, async () => {
      await page.evaluate(`location.hash = '#/other'`);
      await page.getByText('There is nothing at this address').waitFor();
    });
    expect(await page.evaluate('location.hash')).toBe('#/other');
  }

  it.each([
    [
      'a sign-up',
      'GET /account',
      async () => {
        await visitor.page.goto(api.url);
        await visitor.page.getByLabel('Name of the account').fill('Acme');
        await visitor.page.keyboard.press('Enter');
        await visitor.page.getByText('It is shown only once').waitFor();
      },
    ],
    [
      'a message that is sent again',
      'POST /messages',
      async () => {
        const { id } = await api.sent(account);
        await visit(`#/messages/${id}`);
        await visitor.button('Send again').click();
        await visitor.button('Send a new message').click();
      },
    ],
    [
      'the removal of an endpoint',
      'DELETE /endpoints',
      async () => {
        await visitEndpoint();
        await visitor.button('Delete').click();
        await visitor.button('Delete the endpoint').click();
      },
    ],
    [
      'the removal of an account',
      'DELETE /admin/accounts',
      async () => {
        await visitOperators(`#/accounts/${account.id}`);
        await visitor.button('Delete').click();
        const { name } = (await api.ask(OPERATOR, `GET /admin/accounts/${account.id}`)).body;
        await visitor.page.getByLabel(/^Type/).fill(String(name));
        await visitor.page.getByRole('dialog').getByRole('button', { name: 'Delete the account' }).click();
      },
    ],
    [
      'a new plan',
      'PUT /admin/plans',
      async () => {
        await visitOperators('#/plans/+');
        await visitor.page.getByLabel('Name').fill('new');
        await visitor.page.getByLabel('Requests a minute').fill('10');
        await visitor.page.getByLabel('Requests a day').fill('100');
        await visitor.button('Save').click();
      },
    ],
    [
      'the removal of a plan',
      'DELETE /admin/plans',
      async () => {
        await api.ask(OPERATOR, 'PUT /admin/plans/old', PLAN);
        await visitOperators('#/plans/old');
        await visitor.button('Delete').click();
        await visitor.button('Delete the plan').click();
      },
    ],
  ])('%s', async (_what, request, act) => {
    await leaveDuring(request, act);
  });

  it.each([
    [
      'a new account',
      'POST /admin/accounts',
      async () => {
        await visitOperators('#/accounts');
        await visitor.button('Create an account').click();
        await visitor.page.getByRole('dialog').getByLabel('Name').fill('Acme');
        await visitor.button('Create the account').click();
      },
    ],
    [
      'a new key',
      'POST /admin/accounts',
      async () => {
        await visitOperators(`#/accounts/${account.id}`);
        await visitor.button('Create a key').click();
        await visitor.page.getByLabel('Send, cancel and retry messages').check();
        await visitor.page.getByRole('dialog').getByLabel('Name').fill('billing');
        await visitor.page.keyboard.press('Enter');
      },
    ],
    [
      'a portal link',
      'POST /admin/accounts',
      async () => {
        await visitOperators(`#/accounts/${account.id}`);
        await visitor.button('Create a portal link').click();
        await visitor.button('Create the link').click();
      },
    ],
    [
      'a new endpoint',
      'POST /endpoints',
      async () => {
        await visit('#/endpoints');
        await visitor.button('Add an endpoint').first().click();
        await visitor.page.getByLabel('URL', { exact: true }).fill('https://example.com/late');
        await visitor.button('Add the endpoint').click();
      },
    ],
  ])('%s, whose secret is shown there', async (_what, request, act) => {
    await leaveDuring(request, act);
    const dialog = visitor.page.getByRole('dialog');
    await dialog.getByText('It is shown only once.').waitFor();
    await visitor.storeSecret();
    await dialog.waitFor({ state: 'detached' });
    expect(await visitor.page.evaluate('location.hash')).toBe('#/other');
  });

  const press = async (...names: string[]) => {
    for (const name of names) await visitor.button(name).first().click();
  };
  const DESCRIPTION = ['Edit', 'Description (optional)'] as const;

  it.each<[string, string, () => Promise<void>, readonly [open: string, field: string], boolean?]>([
    [
      'the rotation of a key',
      'POST /api-keys',
      async () => {
        await api.createKey(account, { name: 'other' });
        await visit('#/keys');
        await press('Rotate other', 'Rotate the key');
      },
      ['Create a key', 'Name'],
      true,
    ],
    [
      'the revocation of a key',
      'DELETE /api-keys',
      async () => {
        await api.createKey(account, { name: 'other' });
        await visit('#/keys');
        await press('Revoke other', 'Revoke the key');
      },
      ['Create a key', 'Name'],
    ],
    [
      'a new endpoint',
      'POST /endpoints',
      async () => {
        await visit('#/endpoints');
        await press('Add an endpoint');
        await visitor.page.getByLabel('URL', { exact: true }).fill('https://example.com/late');
        await press('Add the endpoint');
      },
      ['Add an endpoint', 'Description (optional)'],
      true,
    ],
    [
      'a change of an endpoint',
      'PATCH /endpoints',
      async () => {
        await visitEndpoint();
        await press('Edit');
        await visitor.page.getByLabel('Description (optional)').fill('first');
        await press('Save');
      },
      DESCRIPTION,
    ],
    [
      'the rotation of a secret',
      'POST /endpoints',
      async () => {
        await visitEndpoint();
        await press('Rotate the secret');
        await visitor.page.getByRole('dialog').getByRole('button', { name: 'Rotate the secret' }).click();
      },
      DESCRIPTION,
      true,
    ],
    [
      'a replay',
      'POST /endpoints',
      async () => {
        await api.sent(account);
        await visitEndpoint();
        await press('Replay messages', 'Replay');
      },
      DESCRIPTION,
    ],
    [
      'a suspension',
      'PATCH /admin/accounts',
      async () => {
        await visitOperators(`#/accounts/${account.id}`);
        await press('Suspend', 'Suspend the account');
      },
      ['Delete', 'Type'],
    ],
    [
      'a new account',
      'POST /admin/accounts',
      async () => {
        await visitOperators('#/accounts');
        await press('Create an account');
        await visitor.page.getByRole('dialog').getByLabel('Name').fill('Acme');
        await press('Create the account');
      },
      ['Create an account', 'Name'],
      true,
    ],
    [
      'a new key of an account',
      'POST /admin/accounts',
      async () => {
        await visitOperators(`#/accounts/${account.id}`);
        await press('Create a key');
        await visitor.page.getByLabel('Send, cancel and retry messages').check();
        await visitor.page.getByRole('dialog').getByLabel('Name').fill('billing');
        await visitor.page.keyboard.press('Enter');
      },
      ['Create a key', 'Name'],
      true,
    ],
    [
      'the removal of an endpoint',
      'DELETE /endpoints',
      async () => {
        await visitEndpoint();
        await press('Delete', 'Delete the endpoint');
      },
      DESCRIPTION,
    ],
    [
      'a portal link',
      'POST /admin/accounts',
      async () => {
        await visitOperators(`#/accounts/${account.id}`);
        await press('Create a portal link', 'Create the link');
      },
      ['Create a portal link', 'Expires'],
      true,
    ],
  ])('%s, also in the dialog that was opened next', async (_what, request, act, [open, label], hasSecret = false) => {
    const { page } = visitor;
    page.setDefaultTimeout(15_000);
    const field = page.getByRole('dialog').getByLabel(label).first();
    await during(request, act, async () => {
      await page.keyboard.press('Escape');
      await press(open);
      if (label === 'Expires') await field.selectOption('After a day');
      else await field.fill('typed');
    });
    if (hasSecret) await visitor.storeSecret();
    expect(await field.inputValue()).toBe(label === 'Expires' ? '86400' : 'typed');
  });
});
