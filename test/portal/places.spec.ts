import { accountForEach, sharedApi } from '../support/api.js';
import { until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';

const COUNT = 40;

describeUnless(missing)('In the portal, Back leads to the place in the view', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const visitor = Visitor.forEach();
  const top = () => visitor.page.evaluate('scrollY');
  const linkName = () => visitor.page.evaluate('document.activeElement.textContent');

  beforeEach(async () => {
    await api.sendBatch(account, { messages: Array.from({ length: COUNT }, (_, n) => `text ${n + 1}.`) });
    await visitor.visit(api.url, account.key, '#/messages');
    await visitor.page.getByText('text 2.').first().waitFor();
  });

  it('from which a message was opened, and Forward to that of the message', async () => {
    const { page } = visitor;
    await page.getByRole('link', { name: 'text 2.' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await until(async () => (await top()) === 0);
    await page.goBack();
    await page.getByText('text 2.').first().waitFor();
    await until(async () => String(await linkName()).includes('text 2.'));
    const left = await top();
    expect(left).toBeGreaterThan(0);
    await page.goForward();
    await until(async () => (await top()) === 0);
    await page.goBack();
    await until(async () => (await top()) === left);
  });

  it('but a link leads to the beginning', async () => {
    const { page } = visitor;
    await page.getByRole('link', { name: 'text 2.' }).click();
    await page.getByRole('link', { name: 'Messages' }).first().click();
    await page.getByText('text 2.').first().waitFor();
    expect(await top()).toBe(0);
    expect(await linkName()).toBe('Messages');
  });

  it('unless the visitor has gone elsewhere in it', async () => {
    const { page } = visitor;
    await page.getByRole('link', { name: 'text 2.' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    let answer = (): void => undefined;
    const isAsked = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/messages?*', async (route) => {
      await isAsked;
      await route.continue();
    });
    await page.goBack();
    await until(async () => (await page.title()).startsWith('Messages'));
    await page.keyboard.press('Home');
    await until(async () => (await top()) === 0);
    answer();
    await page.getByText('text 2.').first().waitFor();
    expect(await top()).toBe(0);
  });
});
