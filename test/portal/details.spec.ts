import { accountForEach, OPERATOR, sharedApi } from '../support/api.js';
import { until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';

const NBSP = '\u00a0';

describeUnless(missing)('In the portal', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const visitor = Visitor.forEach();
  const visit = (hash: string) => visitor.visit(api.url, account.key, hash);

  it('the account is renamed on a page that also shows its id', async () => {
    const { page } = visitor;
    await visit('#/settings');
    await page.getByText(account.id).waitFor();
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Blue Whale');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary').getByText('Blue Whale').waitFor();
    expect((await api.ask(account)).body.name).toBe('Blue Whale');
    visitor.expects('400');
    await name.fill('a'.repeat(101));
    await page.keyboard.press('Enter');
    await page.getByText('100').nth(1).waitFor();
    expect(await name.inputValue()).toHaveLength(101);
    expect((await api.ask(account)).body.name).toBe('Blue Whale');
  });

  it('a new key has the scopes that were chosen, and none by itself', async () => {
    const { page } = visitor;
    await visit('#/keys');
    await visitor.button('Create a key').click();
    expect(await page.locator('dialog :checked:not(option)').count()).toBe(0);
    expect(await visitor.button('Create the key').getAttribute('aria-disabled')).toBe('true');
    await page.getByLabel('Name').fill('reader');
    await page.getByLabel('Read messages and follow their events').check();
    await page.keyboard.press('Enter');
    await visitor.storeSecret();
    const { body } = await api.ask(account, 'GET /api-keys?limit=1');
    expect(body.data).toMatchObject([{ name: 'reader', scopes: ['messages:read'] }]);
  });

  it('the first key of an account is still there after a reload', async () => {
    const { page } = visitor;
    await page.goto(api.url);
    await page.getByLabel('Name of the account').fill('Acme');
    await visitor.button('Create the account').click();
    const key = await page.getByLabel('API key', { exact: true }).innerText();
    await page.waitForURL('**/#/send');
    page.on('dialog', (dialog) => void dialog.accept());
    await page.reload();
    expect(await page.getByLabel('API key', { exact: true }).innerText()).toBe(key);
    await visitor.storeSecret();
    await page.reload();
    await page.getByLabel('Message', { exact: true }).waitFor();
    expect(await page.getByLabel('API key', { exact: true }).count()).toBe(0);
  });

  it.each([9_000, 100_000])(
    'the simulator can be used at once with a plan of %i requests a minute',
    async (perMinute) => {
      const limits = { perMinute, perDay: 10_000_000 };
      await api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { plan: 'enterprise', limits });
      await visit('#/simulator');
      await visitor.button('Simulate').click();
      await visitor.page
        .getByRole('status')
        .getByText(/All are admitted|refused/)
        .waitFor();
    },
  );

  it('a bar and the figures beside it both say what is used, and numbers stay with their units', async () => {
    const { page } = visitor;
    await visit('#/usage');
    const used = page.locator('.remaining');
    await used.getByText('Used this minute').waitFor();
    // At one moment: further responses change both.
    const [said, shown] = await page.evaluate<[string, string]>(
      `[document.querySelector('.remaining p').innerText, document.querySelector('.remaining [role=meter]').ariaValueText]`,
    );
    expect(said.split('\n').at(-1)).toBe(shown);
    const storage = page.getByRole('region', { name: 'Storage' }).locator('.figure');
    await until(async () => new RegExp(`^\\d[\\d.]*${NBSP}(bytes?|KiB)`).test(await storage.innerText()));
  });

  it.each([100_000, 1_000_000_000])(
    'with %i requests a minute, the figures beside the bar stay on a line',
    async (perMinute) => {
      const limits = { perMinute, perDay: 1_000_000_000 };
      await api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { plan: 'enterprise', limits });
      await visit('#/usage');
      const figures = visitor.page.locator('.remaining').getByText(`of ${perMinute.toLocaleString('en')}`);
      expect((await figures.boundingBox())?.height).toBeLessThan(25);
    },
  );

  it('times are those of the locale and the zone of the reader, and name the zone', async () => {
    const context = await visitor.browserIn({ locale: 'de-DE', timezoneId: 'Asia/Tokyo' });
    const page = await context.newPage();
    await page.addInitScript(`sessionStorage.setItem('sluice.key', ${JSON.stringify(account.key)})`);
    await page.goto(`${api.url}/#/settings`);
    const { createdAt } = (await api.ask(account)).body;
    const format = new Intl.DateTimeFormat('de-DE', { dateStyle: 'medium', timeStyle: 'long', timeZone: 'Asia/Tokyo' });
    await page.getByText(format.format(new Date(String(createdAt)))).waitFor();
    await context.close();
  });

  it('a clock that is wrong by a day is told', async () => {
    const { page } = visitor;
    await page.addInitScript(`Date.now = ((now) => () => now() - 86_400_000)(Date.now);`);
    await visit('#/overview');
    await page.getByText('The clock of this device is 24\u00a0h behind.').waitFor();
    await visitor.expectGoodLooks('portal-wrong-clock');
  });

  it('a long URL takes two lines at most, also on a phone', async () => {
    const { page } = visitor;
    await api.ask(account, 'POST /endpoints', { url: `https://example.com/${'long/'.repeat(80)}` });
    await page.setViewportSize({ width: 390, height: 844 });
    await visit('#/endpoints');
    const url = page.locator('.row-main .url');
    const { height } = (await url.boundingBox()) ?? { height: Infinity };
    expect(height).toBeLessThan(50);
  });

  it.each(['#/messages', '#/usage', '#/keys', '#/endpoints'])(
    'the buttons in the header of %s have one height',
    async (hash) => {
      await api.ask(account, 'POST /endpoints', { url: 'https://example.com/hooks' });
      await visit(hash);
      const buttons = visitor.page.locator('.page-header .actions :is(button, .button)');
      await buttons.first().waitFor();
      await until(async () => (await visitor.page.locator('.skeleton').count()) === 0);
      const boxes = await Promise.all((await buttons.all()).map((button) => button.boundingBox()));
      expect(new Set(boxes.map((box) => box?.height)).size).toBe(1);
    },
  );

  it('the command on the welcome page works when it is pasted', async () => {
    const { page } = visitor;
    await page.goto(api.url);
    const command = await page.getByLabel('A command that creates an account').innerText();
    const [, url = '', body = ''] = /^curl (\S+) [^]*-d '(.+)'$/.exec(command) ?? [];
    expect(url).toBe(`${api.url}/accounts`);
    expect((await api.ask(null, 'POST /accounts', body)).status).toBe(201);
    await visitor.expectGoodLooks('portal-welcome');
  });

  it.each(['/docs', '/errors', '/errors/not_found'])('%s looks like the other pages', async (path) => {
    const { page } = visitor;
    await page.goto(api.url + path);
    await page.getByRole('banner').getByText('Sluice').waitFor();
    const style = `[getComputedStyle(document.body).fontFamily, getComputedStyle(document.body).backgroundColor]`;
    const own = await page.evaluate(style);
    await page.goto(api.url);
    expect(await page.evaluate(style)).toEqual(own);
  });
});
