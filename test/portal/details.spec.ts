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
    const [{ hint = '' } = {}] = body.data as { hint?: string }[];
    await page.getByRole('listitem').filter({ hasText: 'reader' }).getByText(hint, { exact: true }).waitFor();
    expect(hint).toMatch(/^slc_\w{4}…\w{4}$/);
  });

  it('what waits is counted with its age, and leads to the list', async () => {
    const { page } = visitor;
    await api.sent(account, { message: 'still here' });
    await visit('#/overview');
    const waiting = page.getByRole('region', { name: 'Waiting' });
    await waiting.getByText('1', { exact: true }).waitFor();
    await waiting.getByText(/oldest (now|\d+s ago)/).waitFor();
    await waiting.getByRole('link', { name: 'Show queued messages' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('still here').waitFor();
    expect(page.url()).toMatch(/#\/messages\?status=queued$/);
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
    await page.goto(`${api.url}/#/overview`);
    await page.getByText('by the hour in which they were accepted, in Asia/Tokyo').waitFor();
    const hour = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const;
    const now = new Intl.DateTimeFormat('de-DE', { ...hour, timeZone: 'Asia/Tokyo' }).format(new Date());
    await page.locator('.axis').getByText(now.replace(/\d\d$/, '')).waitFor();
    await context.close();
  });

  it.each([
    ['en-US', 'Asia/Kathmandu'],
    ['en-US', 'UTC'],
    ['en-GB', 'America/St_Johns'],
    ['ar-EG', 'Asia/Kathmandu'],
  ])('figures and times of %s in %s fit into their cards at any width', async (locale, timezoneId) => {
    const context = await visitor.browserIn({ locale, timezoneId });
    const page = await context.newPage();
    await page.addInitScript(`sessionStorage.setItem('sluice.key', ${JSON.stringify(account.key)})`);
    for (const hash of ['#/overview', '#/usage']) {
      await page.goto(`${api.url}/${hash}`);
      await page.locator('.gauge').first().waitFor();
      for (const width of [320, 390, 640, 720, 800, 960, 1024, 1100, 1200, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        const beyond =
          await page.evaluate<number>(`Math.max(...[...document.querySelectorAll('.gauge *')].map((one) => {
          const range = document.createRange();
          range.selectNodeContents(one);
          const [text, card] = [range, one.closest('.card')].map((what) => what.getBoundingClientRect());
          return text.width === 0 ? 0 : Math.max(text.right - card.right, card.left - text.left);
        }))`);
        expect({ hash, width, beyond: Math.max(0, beyond) }).toEqual({ hash, width, beyond: 0 });
      }
    }
    await context.close();
  });

  it.each([
    ['2027-03-28T02:30', 'This time does not exist in Europe/Berlin: clocks are changed then.', 'true'],
    ['2027-10-31T02:30', 'This time exists twice, because clocks are changed. The first one is meant:', 'false'],
  ])('a time around a change of clocks is said to be one: %s', async (time, text, isDisabled) => {
    const context = await visitor.browserIn({ timezoneId: 'Europe/Berlin' });
    const page = await context.newPage();
    await page.addInitScript(`sessionStorage.setItem('sluice.key', ${JSON.stringify(account.key)})`);
    await page.goto(`${api.url}/#/send`);
    await page.getByLabel('Deliver at (optional)').fill(time);
    await page.getByText(text).waitFor();
    const send = page.getByRole('button', { name: 'Schedule the message' });
    expect((await send.getAttribute('aria-disabled')) ?? 'false').toBe(isDisabled);
    await context.close();
  });

  it('a clock that is wrong by a day is told', async () => {
    const { page } = visitor;
    await page.addInitScript(`Date.now = ((now) => () => now() - 86_400_000)(Date.now);`);
    await visit('#/overview');
    await page.getByText('The clock of this device is 24\u00a0h behind.').waitFor();
    await visitor.expectGoodLooks('portal-wrong-clock');
  });

  it('a long URL takes two lines at most, also on a phone, and is whole where the endpoint is described', async () => {
    const { page } = visitor;
    const url = `https://example.com/${'long/'.repeat(80)}`;
    await api.ask(account, 'PATCH /account', { delivery: 'webhooks' });
    const { id } = (await api.ask(account, 'POST /endpoints', { url })).body;
    const message = await api.sent(account);
    await page.setViewportSize({ width: 390, height: 844 });
    await visit('');
    for (const hash of ['#/endpoints', `#/endpoints/${String(id)}`, `#/messages/${message.id}`]) {
      await page.goto(`${api.url}/${hash}`);
      const shown = page.locator('main .url:not(dd .url)', { hasText: url });
      await shown.waitFor();
      expect([hash, ((await shown.boundingBox())?.height ?? Infinity) < 50]).toEqual([hash, true]);
    }
    await page.goto(`${api.url}/#/endpoints/${String(id)}`);
    expect((await page.locator('dd .url').boundingBox())?.height).toBeGreaterThan(100);
  });

  it('all endpoints that a plan allows are listed and chosen from', async () => {
    const { page } = visitor;
    const terms = { limits: { perMinute: 10_000, perDay: 100_000 }, maxEndpoints: 100 };
    await api.ask(OPERATOR, 'PUT /admin/plans/many-endpoints', terms);
    await api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { plan: 'many-endpoints' });
    for (let n = 0; n < 51; n++) await api.ask(account, 'POST /endpoints', { url: `https://example.com/${n}` });
    await visit('#/endpoints');
    await page.locator('.row').nth(50).waitFor();
    await visit('#/messages');
    await page.reload();
    await page.getByText('Time and endpoint').click();
    await page.getByLabel('Endpoint').locator('option').nth(51).waitFor({ state: 'attached' });
  });

  it('the reason of a failure is a sentence, unless it is that of a handler', async () => {
    const { page } = visitor;
    const { id } = await api.sent(account);
    await api.become(id, 'failed');
    await visit(`#/messages/${id}`);
    for (const [reason, text] of [
      ['worker_lost', 'The message has repeatedly killed its worker.'],
      ['lease_expired', 'The lease has expired.'],
      ['no_endpoint', 'No endpoint was enabled when it was accepted.'],
      ['ep_01m7z2cmr5fqnagvh7x50s8g2g: endpoint_deleted', 'The endpoint was deleted before it had the message.'],
      ['constructor', 'constructor'],
      ['printer: no_endpoint', 'printer: no_endpoint'],
    ] as const) {
      await api.sql('UPDATE sluice.messages SET failure_reason = $2 WHERE id = $1', [id, reason]);
      await page.reload();
      await page.locator('.facts').getByText(text).waitFor();
    }
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

  it.each([
    ['/docs', 'List messages'],
    ['/errors', 'not_found'],
    ['/errors/not_found', 'What to do'],
  ])('%s looks like the other pages, in both themes', async (path, shown) => {
    const { page } = visitor;
    // Of the whole page, since what is over the ground or around the text may have its own.
    const style = `(() => {
      const backs = [document.documentElement, document.body, document.querySelector('.swagger-ui') ?? document.body]
        .map((element) => getComputedStyle(element).backgroundColor).filter((colour) => colour !== 'rgba(0, 0, 0, 0)');
      const fonts = [...document.querySelectorAll('h1, h2, p, a, button')].filter((one) => one.closest('td, .model') === null && one.innerText.trim() !== '')
        .map((element) => getComputedStyle(element).fontFamily).filter((font) => !font.includes('mono'));
      return [[...new Set(backs)], [...new Set(fonts)]];
    })()`;
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(api.url + path);
      await page.getByRole('banner').getByText('Sluice').waitFor();
      await page.getByText(shown).first().waitFor();
      const own = await page.evaluate(style);
      await page.goto(api.url);
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await page.evaluate(style)).toEqual(own);
    }
  });
});
