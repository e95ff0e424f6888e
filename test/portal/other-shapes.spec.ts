import { accountForEach, OPERATOR, sharedApi } from '../support/api.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';

const MINUTE_MS = 60_000;
const SHAPES = [
  '{"data":null}',
  '{"data":[null]}',
  '{"data":{},"nextCursor":null}',
  '{"message":"from a proxy"}',
  '[]',
];

describeUnless(missing)('The portal', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const visitor = Visitor.forEach();

  const visitOperators = async (hash: string) => {
    await visitor.page.addInitScript(`sessionStorage.setItem('sluice.operators-key', ${JSON.stringify(OPERATOR.key)})`);
    await visitor.page.goto(`${api.managementUrl}/${hash}`);
  };

  it.each([
    ['messages', '/messages', 'Messages'],
    ['messages/msg_1', '/messages/msg_1', 'Message'],
    ['keys', '/api-keys', 'API keys'],
    ['endpoints', '/endpoints', 'Webhooks'],
    ['usage', '/account/usage', 'Usage'],
    ['settings', '/account', 'Settings'],
  ])('offers to load #/%s again after JSON of other shapes, and goes on elsewhere', async (hash, path, title) => {
    const { page } = visitor;
    page.setDefaultTimeout(15_000);
    visitor.expects('404');
    await visitor.visit(api.url, account.key, '#/simulator');
    await page.getByRole('heading', { name: 'Simulator' }).waitFor();
    for (const body of SHAPES) {
      const isAsked = ({ pathname }: URL) => pathname === path;
      await page.route(isAsked, (route) => route.fulfill({ contentType: 'application/json', body }));
      await page.evaluate(`location.hash = '#/${hash}'`);
      await visitor.button('Try again').first().waitFor();
      await page.evaluate(`location.hash = '#/simulator'`);
      await page.getByRole('heading', { name: 'Simulator' }).waitFor();
      await page.evaluate(`location.hash = '#/${hash}'`);
      await visitor.button('Try again').first().waitFor();
      await page.unroute(isAsked);
      await visitor.button('Try again').first().click();
      await page.getByRole('heading', { name: title, exact: true, level: 1 }).waitFor();
      await page.evaluate(`location.hash = '#/simulator'`);
      await page.getByRole('heading', { name: 'Simulator' }).waitFor();
    }
  });

  it('has nothing at addresses with "." or ".." for an id', async () => {
    const { page } = visitor;
    page.setDefaultTimeout(15_000);
    await visitor.visit(api.url, account.key);
    for (const hash of ['messages/..', 'messages/.', 'endpoints/..']) {
      await page.evaluate(`location.hash = '#/${hash}'`);
      await page.getByText('There is nothing at this address').waitFor();
      await page.evaluate(`location.hash = '#/simulator'`);
      await page.getByRole('heading', { name: 'Simulator' }).waitFor();
    }
    for (const hash of ['#/accounts/..', '#/plans/..']) {
      await visitOperators(hash);
      await page.getByText('There is nothing at this address').waitFor();
    }
  });

  it('fits into a narrow window with the longest name that has no space', async () => {
    const { page } = visitor;
    page.setDefaultTimeout(15_000);
    await page.setViewportSize({ width: 320, height: 640 });
    const name = 'W'.repeat(100);
    await api.ask(account.key, 'PATCH /account', { name });
    await visitor.visit(api.url, account.key);
    for (const view of ['overview', 'usage', 'settings', 'keys']) {
      await page.evaluate(`location.hash = '#/${view}'`);
      await page.locator(`.sidebar a[aria-current=page][href="#/${view}"]`).waitFor();
      if (['overview', 'usage'].includes(view)) await page.locator('.lead', { hasText: name }).waitFor();
      expect([view, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([view, 320]);
    }
    await visitOperators(`#/accounts/${account.id}`);
    await page.getByRole('heading', { name }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  });

  it('deletes an account whose name has any white space once it is typed as it is shown', async () => {
    const { page } = visitor;
    page.setDefaultTimeout(15_000);
    for (const name of ['a\nb', 'a  b', 'a\tb', ' a\u00a0b\r\n']) {
      const { id } = (await api.ask(OPERATOR, 'POST /admin/accounts', { name })).body;
      await visitOperators(`#/accounts/${String(id)}`);
      await visitor.button('Delete').click();
      await page.getByLabel('Type a b to confirm').fill('a b');
      await visitor.button('Delete the account').click();
      await page.getByText('Newest first').waitFor();
    }
  });

  it('says until when the old key works that ends before the time of grace', async () => {
    const { page } = visitor;
    page.setDefaultTimeout(15_000);
    const expiresAt = new Date(Date.now() + 10 * MINUTE_MS);
    const input = { name: 'brief', scopes: ['messages:send'], expiresAt: expiresAt.toISOString() };
    await api.ask(account.key, 'POST /api-keys', input);
    await visitor.visit(api.url, account.key, '#/keys');
    await visitor.button('Rotate brief').click();
    await visitor.button('Rotate the key').click();
    const hint = await page.getByText('The old key works until').innerText();
    const shown = await page.evaluate(
      `new Date(${expiresAt.getTime()}).toLocaleTimeString('en-US', { hour: 'numeric', minute: '2-digit' })`,
    );
    expect(hint.replaceAll('\u202f', ' ').replaceAll('\u00a0', ' ')).toContain(
      String(shown).replaceAll('\u202f', ' ').slice(0, -3),
    );
  });
});
