import { isDeepStrictEqual } from 'node:util';
import { accountForEach, OPERATOR, sharedApi } from '../support/api.js';
import { until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';

describeUnless(missing)('In the portal, a sign-in', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const visitor = Visitor.forEach();
  const STORED = `[localStorage.getItem('sluice.key'), sessionStorage.getItem('sluice.key')]`;
  const stores = (expected: unknown, page = visitor.page) =>
    until(async () => isDeepStrictEqual(await page.evaluate(STORED), expected));

  const signIn = async (keep = false) => {
    const { page } = visitor;
    await page.goto(`${api.url}/#/sign-in`);
    await page.getByLabel('API key', { exact: true }).fill(account.key);
    if (keep) await page.getByLabel('Keep me signed in').check();
    await visitor.button('Sign in').click();
    await visitor.button('Sign out').waitFor();
  };
  const link = async (scopes: string[]) => {
    const made = await api.ask(OPERATOR, `POST /admin/accounts/${account.id}/portal-links`, { scopes });
    return String(made.body.url);
  };

  it('is shared by the tabs, is not kept without being asked for, and ends in all of them', async () => {
    const { page } = visitor;
    await signIn();
    expect(await page.evaluate(STORED)).toEqual([null, account.key]);
    const [other, waiting] = [await page.context().newPage(), await page.context().newPage()];
    await waiting.goto(`${api.url}/#/sign-in`);
    await waiting.getByRole('heading', { name: 'Overview' }).waitFor();
    await other.goto(`${api.url}/#/usage`);
    await other.getByRole('heading', { name: 'Usage' }).waitFor();
    expect(await other.evaluate(STORED)).toEqual([null, account.key]);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    await stores([null, null]);
  });

  it('ends also in a tab that shows a page elsewhere, once that is back', async () => {
    const { page } = visitor;
    await signIn();
    const other = await page.context().newPage();
    await other.goto(`${api.url}/#/usage`);
    await other.getByRole('heading', { name: 'Usage' }).waitFor();
    await page.goto(`${api.url}/docs`);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.getByText('You are signed out.').waitFor();
    await page.goBack();
    await page.getByText('You are signed out.').waitFor();
    await stores([null, null]);
    expect(await other.getByText('You are signed out.').count()).toBe(1);
  });

  it('is kept after the last tab is closed if the visitor wants that, and then says what is stored', async () => {
    const { page } = visitor;
    await page.goto(`${api.url}/#/sign-in`);
    await page.getByText('Stores the API key in this browser until you sign out.').waitFor();
    await visitor.expectGoodLooks('portal-sign-in');
    await signIn(true);
    await page.close();
    const later = await page.context().newPage();
    await later.goto(`${api.url}/#/settings`);
    await later.getByLabel('Keep me signed in').uncheck();
    await stores([null, account.key], later);
    await later.getByLabel('Keep me signed in').check();
    await later.getByRole('button', { name: 'Sign out' }).click();
    await stores([null, null], later);
  });

  it('is made by a link, once, with the scopes of the link only', async () => {
    const { page } = visitor;
    visitor.expects('404');
    const url = await link(['messages:read']);
    await page.goto(url);
    await page.getByRole('heading', { name: 'Messages' }).waitFor();
    expect(page.url()).not.toContain('slp_');
    expect(await page.getByRole('link', { name: 'API keys' }).count()).toBe(0);
    await visitor.button('Sign out').click();
    await page.goto(url);
    await page.getByText('The link was used, has expired or was revoked.').waitFor();
    // As a program may have found it in a text.
    await page.goto('about:blank');
    await page.goto(`${url}).`);
    await page.getByText('The link was used, has expired or was revoked.').waitFor();
    expect(page.url()).not.toContain('slp_');
    await visitor.expectGoodLooks('portal-used-link');
    await page.keyboard.press('Tab');
    await visitor.button('Sign in with a key').click();
    await page.getByLabel('API key', { exact: true }).waitFor();
  });

  it('goes on where Back leads, after a link that was used', async () => {
    const { page } = visitor;
    visitor.expects('404');
    const url = await link(['messages:read']);
    await page.goto(url);
    await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor();
    await page.evaluate(`location.hash = ${JSON.stringify(new URL(url).hash)}`);
    await page.getByText('The link was used, has expired or was revoked.').waitFor();
    expect(await page.title()).toBe('Opening the portal · Sluice');
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor();
    expect(await page.title()).toBe('Messages · Sluice');
  });

  it('by the next link takes the place of one that was used, and of one that is still being opened', async () => {
    const { page } = visitor;
    page.setDefaultTimeout(15_000);
    visitor.expects('404', 'net::ERR_ABORTED');
    const others = [await api.signUp(), await api.signUp(), await api.signUp()];
    const urls = [];
    for (const { id } of others) {
      const made = await api.ask(OPERATOR, `POST /admin/accounts/${id}/portal-links`, { scopes: ['account:manage'] });
      urls.push(String(made.body.url));
    }
    const [used = '', slow = '', next = ''] = urls;
    const open = (url: string) => page.evaluate(`location.hash = ${JSON.stringify(new URL(url).hash)}`);
    await page.goto(used);
    await visitor.button('Sign out').click();
    await open(used);
    await page.getByText('The link was used, has expired or was revoked.').waitFor();
    let answer = (): void => undefined;
    const isOpened = new Promise<void>((resolve) => (answer = resolve));
    await page.route(
      '**/portal-links/open',
      async (route) => {
        const response = await route.fetch();
        await isOpened;
        await route.fulfill({ response }).catch(() => undefined);
      },
      { times: 1 },
    );
    const asked = page.waitForRequest('**/portal-links/open');
    await open(slow);
    await asked;
    await open(next);
    await page.getByRole('link', { name: 'Settings' }).click();
    answer();
    await page.getByText(others[2]?.id ?? '').waitFor();
    await page.waitForTimeout(300);
    await page.reload();
    await page.getByText(others[2]?.id ?? '').waitFor();
  });

  it('by a link takes the place of another one', async () => {
    const { page } = visitor;
    await visitor.visit(api.url, (await api.signUp()).key, '#/usage');
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
    await page.goto(await link(['account:manage']));
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByText(account.id).waitFor();
  });
});
