import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { OPERATOR, type Account } from '../support/api.js';
import { missing, Visitor } from './visitor.js';

const DAY_MS = 86_400_000;

describeUnless(missing)('In the portal', () => {
  let fleet: Fleet;
  let account: Account;
  const visitor = Visitor.forEach();
  const api = () => fleet.client;
  const visit = (hash: string, key = account.key) => visitor.visit(api().url, key, hash);

  beforeAll(async () => {
    fleet = await Fleet.start({ BAN_GRACE_SECONDS: '0', BAN_AFTER_REFUSALS: '3', MAX_ATTEMPTS: '2' });
    await fleet.worker();
  });
  afterAll(() => fleet.stop());
  beforeEach(async () => {
    account = await api().signUp();
  });

  it('a visitor signs up and sees the first message delivered', async () => {
    const { page } = visitor;
    await page.goto(api().url);
    await page.getByLabel('Name of the account').fill('Acme');
    await page.keyboard.press('Enter');
    await page.getByText('It is shown only once').waitFor();
    await page.getByLabel('Message', { exact: true }).focus();
    await page.keyboard.press('Control+Enter');
    await page.locator('.steps').getByText('delivered').waitFor();
  });

  it('a key that is shown once stays until it is stored, whatever is pressed', async () => {
    const { page } = visitor;
    await visit('#/usage');
    await page.getByRole('link', { name: 'API keys' }).click();
    await visitor.button('Create a key').click();
    await page.getByLabel('Send, cancel and retry messages').check();
    await page.getByLabel('Name').fill('billing');
    await page.keyboard.press('Enter');
    const key = await page.getByLabel('API key', { exact: true }).innerText();
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape');
    await page.goBack();
    await page.getByText('Requests in a minute').waitFor();
    const dialog = page.getByRole('dialog', { name: 'The key is created' });
    expect(await dialog.getByLabel('API key', { exact: true }).innerText()).toBe(key);
    await visitor.storeSecret();
    expect(await page.content()).not.toContain(key);
    await page.goForward();
    await visitor.button('Create a key').click();
    await page.getByLabel('Name').waitFor();
  });

  it('the first key is shown by every view until it is stored', async () => {
    const { page } = visitor;
    await page.goto(api().url);
    await page.getByLabel('Name of the account').fill('Acme');
    await page.keyboard.press('Enter');
    const key = page.getByLabel('API key', { exact: true });
    await key.waitFor();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByText('Requests in a minute').waitFor();
    expect(await key.innerText()).toMatch(/^slc_/);
    const warns = `!dispatchEvent(new Event('beforeunload', { cancelable: true }))`;
    expect(await page.evaluate(warns)).toBe(true);
    await visitor.storeSecret();
    await until(async () => (await page.evaluate(warns)) === false);
  });

  it('a click as soon as the navigation is there is followed', async () => {
    const { page } = visitor;
    await page.addInitScript(`new MutationObserver((_, observer) => {
      const link = document.querySelector('a[href="#/usage"]');
      if (link === null) return;
      observer.disconnect();
      link.click();
    }).observe(document, { childList: true, subtree: true });`);
    await visit('');
    await page.getByText('Requests in a minute').waitFor();
  });

  it('events that overtake responses are not lost', async () => {
    const { page } = visitor;
    await visit('#/send');
    const events = page.waitForResponse((response) => response.url().endsWith('/events'));
    await page.reload();
    await events;
    const overtake = (method: string) =>
      page.route(
        ({ pathname }) => pathname === '/messages',
        async (route) => {
          if (route.request().method() !== method) return route.continue();
          const response = await route.fetch();
          if (method === 'POST') {
            const { id } = (await response.json()) as { id: string };
            await until(
              async () => (await api().ask(account, `GET /messages/${id}`)).body.status === 'delivered',
              60_000,
            );
          } else {
            await api().sent(account, { message: 'meanwhile' });
          }
          // What has happened is on its way to the browser.
          await new Promise((resolve) => setTimeout(resolve, 200));
          return route.fulfill({ response });
        },
      );
    await overtake('POST');
    await visitor.button('Send the message').click();
    await page.locator('.steps').getByText('delivered').waitFor();
    await page.unrouteAll();
    await overtake('GET');
    await page.getByRole('link', { name: 'Messages' }).click();
    await page.getByRole('row', { name: 'meanwhile' }).getByText('delivered').waitFor();
  });

  it('a stream of events that fails at its start is followed again', async () => {
    visitor.expects('503');
    const { page } = visitor;
    await page.route('**/events', (route) => route.fulfill({ status: 503, body: '' }));
    await visit('#/messages');
    const colour = () =>
      page.evaluate(`getComputedStyle(document.querySelector('.live-state'), '::before').backgroundColor`);
    await page.getByText('No live updates').waitFor();
    const lost = await colour();
    await page.unrouteAll();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await colour()).not.toBe(lost);
  });

  it('a stream of events that a suspension has ended is followed again once the account is resumed', async () => {
    visitor.expects('403');
    const { page } = visitor;
    await visit('#/messages');
    await page.getByText('Live', { exact: true }).waitFor();
    const suspend = (suspended: boolean) => api().ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { suspended });
    await suspend(true);
    await page.getByText('No live updates').waitFor();
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByText('has suspended your account').waitFor();
    await page.goBack();
    await suspend(false);
    await api().sent(account, { message: 'before the stream' });
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('row', { name: 'before the stream' }).getByText('delivered').waitFor();
    await api().sent(account, { message: 'in the stream' });
    await page.getByRole('row', { name: 'in the stream' }).getByText('delivered').waitFor();
  });

  it('a message that the form refuses is not sent by the keyboard either', async () => {
    const { page } = visitor;
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.postData() ?? '');
    });
    await visit('#/send');
    const text = page.getByLabel('Message', { exact: true });
    for (const refused of ['', 'x'.repeat(262_145), 'accepted']) {
      await text.fill(refused);
      await text.press('Control+Enter');
    }
    await page.locator('.steps').getByText('queued').waitFor();
    expect(sent).toEqual(['{"message":"accepted"}']);
  });

  it('a message that may be stored although the server failed is sent again as the same one', async () => {
    visitor.expects('502');
    const { page } = visitor;
    await visit('#/send');
    await page.route('**/messages', async (route) => route.fulfill({ response: await route.fetch(), status: 502 }), {
      times: 1,
    });
    await visitor.button('Send the message').click();
    const hint = page.getByText('The message may be stored.');
    await hint.waitFor();
    await page.getByLabel('Message', { exact: true }).press('!');
    await hint.waitFor({ state: 'detached' });
    await page.keyboard.press('Backspace');
    await hint.waitFor();
    await visitor.button('Send the message').click();
    await page.locator('.steps').waitFor();
    expect((await api().ask(account, 'GET /messages')).body.data).toHaveLength(1);
  });

  it('a key that may only pull is told that there is no page for it', async () => {
    const { key } = await api().createKey(account, { scopes: ['messages:consume'] });
    await visit('', key);
    await visitor.page.getByText('messages:consume').waitFor();
  });

  it('a draft outlives a key that is revoked, and Back does not lead to the sign-in', async () => {
    visitor.expects('401');
    const { id, key } = await api().createKey(account, { scopes: ['messages:send'] });
    const { page } = visitor;
    await visit('', key);
    await visitor.button('Send the message').click();
    await page.locator('.steps').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('half a thought');
    await api().ask(account, `DELETE /api-keys/${id}`);
    await visitor.button('Send the message').click();
    await page.getByText('Your API key no longer works').waitFor();
    await page.getByLabel('API key', { exact: true }).and(page.locator(':focus')).waitFor();
    await page.keyboard.type(account.key);
    await page.keyboard.press('Enter');
    const text = page.getByLabel('Message', { exact: true });
    await text.waitFor();
    expect(await text.inputValue()).toBe('half a thought');
    expect(await page.locator('.steps').count()).toBe(0);
    expect(await page.evaluate('history.length')).toBe(2);
  });

  it('the way of delivery changes when it is saved, not while it is chosen', async () => {
    const { page } = visitor;
    const delivery = async () => (await api().ask(account, 'GET /account')).body.delivery;
    await visit('#/settings');
    await page.getByRole('radio', { name: /^Worker/ }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await page.getByRole('radio', { name: /^Pull/ }).isChecked()).toBe(true);
    expect(await delivery()).toBe('handler');
    await visitor.button('Save').click();
    await until(async () => (await delivery()) === 'pull');
  });

  it('an endpoint is added with types, an operational event and headers, and changed', async () => {
    const { page } = visitor;
    const endpoints = async () =>
      (await api().ask(account, 'GET /endpoints')).body.data as { types: string[]; headerNames: string[] }[];
    await visit('#/endpoints');
    await visitor.button('Add an endpoint').first().click();
    await page.getByLabel('URL', { exact: true }).fill('https://example.com/typed');
    await page.getByLabel('Types of messages').fill('order.* invoice.paid');
    await page.getByLabel('A message has failed').check();
    await page.getByLabel('Headers').fill('Authorization: Bearer a:b\nX-Tenant: 7');
    await visitor.button('Add the endpoint').click();
    await until(async () => (await endpoints()).length > 0);
    expect((await endpoints())[0]).toMatchObject({
      ...{ types: ['order.*', 'invoice.paid', 'sluice.message.failed'], headerNames: ['Authorization', 'X-Tenant'] },
    });
    await visitor.button('I have stored it').click();
    await visitor.button('Yes, it is stored').click();
    await page.getByText('order.*, invoice.paid, sluice.message.failed').waitFor();
    await visit('#/endpoints');
    await page.getByRole('link', { name: 'https://example.com/typed' }).click();
    await page.getByText('Authorization, X-Tenant').waitFor();
    await visitor.button('Edit').click();
    visitor.expects('400');
    await page.getByLabel('Types of messages').fill('order*');
    await visitor.button('Save').click();
    await page.getByText('types must contain only types like order.paid').waitFor();
    await page.getByLabel('Types of messages').fill('order.paid');
    await page.getByLabel('A message has failed').uncheck();
    await page.getByLabel('Remove all headers').check();
    await visitor.button('Save').click();
    await until(async () => (await endpoints())[0]?.headerNames.length === 0);
    expect((await endpoints())[0]).toMatchObject({ types: ['order.paid'], headerNames: [] });
  });

  it('a limit that is over takes its error away, and a reload meanwhile shows the account', async () => {
    visitor.expects('429');
    const { page } = visitor;
    await visit('#/send');
    await page.getByText('Used this minute').waitFor();
    const body = JSON.stringify({ code: 'rate_limit_exceeded', detail: 'The requests are used up.' });
    const refuse = (seconds: string) =>
      page.route(
        () => true,
        (route) =>
          route.request().resourceType() === 'fetch'
            ? route.fulfill({ status: 429, headers: { 'retry-after': seconds }, body })
            : route.continue(),
      );
    await refuse('10');
    await visitor.button('Send the message').click();
    await page.getByText('The requests are used up.').waitFor();
    await page.getByText('The requests are used up.').waitFor({ state: 'detached' });
    await refuse('60');
    await page.reload();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByText('Loaded at').first().waitFor();
  });

  it('rows stay under the pointer until new messages are asked for, or it leaves', async () => {
    const { page } = visitor;
    await api().sent(account, { message: 'first' });
    await visit('#/messages');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('row', { name: 'first' }).hover();
    await api().sent(account, { message: 'second' });
    await visitor.button('1 new message').waitFor();
    expect(await page.getByRole('row', { name: 'second' }).count()).toBe(0);
    await visitor.button('1 new message').click();
    await page.getByRole('row', { name: 'second' }).hover();
    const { id } = await api().sent(account, { message: 'third' });
    await visitor.button('1 new message').waitFor();
    // Nothing more happens that would draw the list anew.
    await until(async () => (await api().ask(account, `GET /messages/${id}`)).body.status === 'delivered');
    await page.waitForTimeout(500);
    await page.mouse.move(0, 0);
    await page.getByRole('row', { name: 'third' }).waitFor();
    expect(await visitor.button('1 new message').count()).toBe(0);
  });

  it('an announcement is made in the dialog that is open, and again when it is repeated', async () => {
    const { page } = visitor;
    await visit('#/keys');
    await visitor.button('Rotate first key').click();
    await visitor.button('Rotate the key').click();
    const copy = visitor.button('Copy the API key');
    await copy.click();
    await page.getByRole('dialog').locator('.toast').waitFor();
    await page.evaluate(`document.querySelector('dialog .toast').id = 'first'`);
    await copy.click();
    await page.getByRole('dialog').locator('.toast:not(#first)').waitFor();
  });

  it('an announcement stays for four seconds, also when another one ends as it begins', async () => {
    const { page } = visitor;
    await page.clock.install();
    await visit('#/keys');
    await visitor.button('Rotate first key').click();
    await visitor.button('Rotate the key').click();
    const copy = visitor.button('Copy the API key');
    const toast = page.getByRole('dialog').locator('.toast');
    await copy.click();
    await toast.waitFor();
    await page.clock.pauseAt(Date.now() + 60_000);
    await copy.click();
    await toast.waitFor();
    await page.clock.runFor(3_999);
    await copy.click();
    await toast.waitFor();
    await page.clock.runFor(3_999);
    expect(await toast.count()).toBe(1);
    await page.clock.runFor(1);
    expect(await toast.count()).toBe(0);
  });

  it('a reload while signed in moves nothing', async () => {
    const { page } = visitor;
    await page.addInitScript(`moved = 0; new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) moved += value;
    }).observe({ type: 'layout-shift', buffered: true });`);
    await api().sent(account, { message: 'first' });
    await visit('#/messages');
    for (const again of [false, true]) {
      if (again) await page.reload();
      await page.getByRole('row', { name: 'first' }).waitFor();
      await page.getByText('Live', { exact: true }).waitFor();
      expect(await page.evaluate('moved')).toBeLessThan(0.01);
    }
  });

  it('a message that fails shows its attempts and can be retried', async () => {
    const { id } = await api().sent(account, { message: 'throw' });
    const { page } = visitor;
    await visit(`#/messages/${id}`);
    await visitor.button('Retry').click();
    await page.getByText('as requested').first().waitFor();
    await page.locator('.attempts > li').nth(3).waitFor();
    await page
      .locator('.attempts > li')
      .first()
      .getByText(/failed/i)
      .first()
      .waitFor();
  });

  it('the latest of many attempts are shown, and all of them on request', async () => {
    const { id } = await api().sent(account);
    const { page } = visitor;
    const data = Array.from({ length: 90 }, (_, index) => ({
      ...{ number: index + 1, outcome: 'failed', target: 'handler', startedAt: new Date().toISOString() },
      ...{ durationMs: 1, error: 'out of paper', responseStatus: null, responseBody: null },
    }));
    await page.route('**/attempts', (route) => route.fulfill({ json: { data } }));
    await visit(`#/messages/${id}`);
    await page.getByText('not shown: 70').waitFor();
    expect(await page.locator('.attempts > li').first().innerText()).toMatch(/^90/);
    await visitor.button('Show all 90').click();
    await page.locator('.attempts > li').nth(89).waitFor();
    expect(await page.getByText('not shown').count()).toBe(0);
    await until(async () => (await page.evaluate('document.activeElement.className')) === 'attempts');
  });

  it.each([
    ['Escape', () => visitor.page.keyboard.press('Escape')],
    ['its button', () => visitor.button('Close').click()],
  ])('a dialog that is closed by %s gives the focus back to the button that opened it', async (_, close) => {
    await visit('#/keys');
    await visitor.button('Create a key').click();
    await visitor.page.getByLabel('Name').waitFor();
    await close();
    await visitor.page.getByRole('dialog').waitFor({ state: 'detached' });
    await until(async () => (await visitor.page.evaluate('document.activeElement.textContent')) === 'Create a key');
  });

  it('messages appear and change while the list is open', async () => {
    const { page } = visitor;
    await visit('#/messages');
    await page.getByText('Send your first message').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await api().sent(account, { message: 'from elsewhere' });
    const row = page.getByRole('row', { name: 'from elsewhere' });
    await row.getByText('delivered').waitFor();
    await page.getByRole('link', { name: 'failed' }).click();
    await page.getByText('No messages are failed').waitFor();
    await page.goBack();
    await row.waitFor();
  });

  it('a scheduled message is cancelled', async () => {
    const deliverAt = new Date(Date.now() + DAY_MS).toISOString();
    const { id } = await api().sent(account, { body: { message: 'later', deliverAt } });
    await visit(`#/messages/${id}`);
    await visitor.button('Cancel the message').click();
    await visitor.page.locator('.title').getByText('cancelled').waitFor();
    expect(await visitor.button('Cancel the message').count()).toBe(0);
    await until(async () => (await visitor.page.evaluate('document.activeElement.tagName')) === 'H1');
  });

  it('the own key is rotated, and the new one is used from then on', async () => {
    const { page } = visitor;
    await visit('#/keys');
    await visitor.button('Rotate first key').click();
    await page.getByLabel('The old key stops working').selectOption('At once');
    await visitor.button('Rotate the key').click();
    const key = await page.getByLabel('API key', { exact: true }).innerText();
    await visitor.storeSecret();
    await page.getByText('this key').waitFor();
    expect([await api().knows(account.key), await api().knows(key)]).toEqual([false, true]);
  });

  it('a key is offered only what its scopes allow', async () => {
    const { key } = await api().createKey(account, { scopes: ['messages:read'] });
    const { page } = visitor;
    await visit('', key);
    await page.getByRole('heading', { name: 'Messages' }).waitFor();
    expect(await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allInnerTexts()).toEqual([
      'Messages',
    ]);
    expect(await page.getByRole('link', { name: 'Send', exact: true }).count()).toBe(0);
    await page.goto(`${api().url}/#/keys`);
    await page.getByText('Your key may not do this').waitFor();
  });

  it('a key that is revoked meanwhile leads back to the sign-in, which says why', async () => {
    visitor.expects('401');
    const { page } = visitor;
    await visit('#/usage');
    await page.getByText('Requests in a minute').waitFor();
    await api().ask(account, `DELETE /api-keys/${account.keyId}`);
    await visitor.button('Refresh').click();
    await page.getByText('Your API key no longer works').waitFor();
    await page.getByLabel('API key').fill('slc_wrong');
    await visitor.button('Sign in').click();
    await page.getByText('This key is not valid').waitFor();
  });

  it('a key that is revoked while messages are listed leads there at once', async () => {
    visitor.expects('401');
    const { page } = visitor;
    const { id, key } = await fleet.client.createKey(account, {});
    await visit('#/messages', key);
    await page.getByText('Live', { exact: true }).waitFor();
    await fleet.client.ask(account, `DELETE /api-keys/${id}`);
    await page.getByText('Your API key no longer works').waitFor();
  });

  it('deliveries are paused and resumed, which every page shows meanwhile', async () => {
    const { page } = visitor;
    const stored = async () => (await api().ask(account)).body.paused;
    await visit('#/settings');
    const pausing = page.getByRole('switch', { name: 'Pause deliveries' });
    await pausing.click();
    await page.getByText('Messages are accepted, and wait until you resume.').waitFor();
    expect(await stored()).toBe(true);
    const { id } = await api().sent(account);
    await page.getByRole('link', { name: 'Send', exact: true }).click();
    await page.reload();
    await page.getByText('Messages are accepted, and wait until you resume.').waitFor();
    const message = async () => (await api().ask(account, `GET /messages/${id}`)).body;
    expect(await message()).toMatchObject({ status: 'queued', attempts: 0 });
    await visitor.button('Resume deliveries').click();
    await page.getByText('Messages are accepted, and wait until you resume.').waitFor({ state: 'detached' });
    expect(await stored()).toBe(false);
    await until(async () => (await message()).status === 'delivered');
    await page.getByRole('link', { name: 'Settings' }).click();
    expect(await pausing.isChecked()).toBe(false);
  });

  it('the usage over time is a chart, and a table for screen readers', async () => {
    const start = new Date(new Date(Date.now() - 3_600_000).setUTCMinutes(0, 0, 0));
    await api().sql(
      `INSERT INTO sluice.usage (account_id, start, accepted, accepted_bytes, delivered, failed, cancelled)
       VALUES ($1, $2, 1234, 5120, 1200, 4, 0)`,
      [account.id, start],
    );
    const { page } = visitor;
    await visit('#/usage');
    await page.getByRole('img', { name: '1,234 accepted, 1,200 of them delivered, 4 failed' }).waitFor();
    expect(await page.locator('rect.delivered').count()).toBe(24);
    await page.getByText('As a table').click();
    const cells = await page.getByRole('row').nth(1).getByRole('cell').allInnerTexts();
    expect(cells.slice(1)).toEqual(['1,234', '5\u00a0KiB', '1,200', '4']);
    await page.getByLabel('Time', { exact: true }).selectOption('the last 30 days');
    await page.getByText('Messages by the day').waitFor();
    await until(async () => (await page.locator('rect.delivered').count()) === 30);
  });

  it('a used-up limit shows when it ends, and then a ban', async () => {
    visitor.expects('429');
    const limited = await api().signUp({ perMinute: 4, perDay: 1_000 });
    const { page } = visitor;
    await visit('#/usage', limited.key);
    await page.getByText('Requests in a minute').waitFor();
    // A minute that ends meanwhile starts the count anew.
    const reached = page.getByText('The rate limit is reached');
    await until(async () => {
      if (await reached.isVisible()) return true;
      await visitor.button('Refresh').click();
      return reached.waitFor({ timeout: 2_000 }).then(
        () => true,
        () => false,
      );
    });
    await page.getByText('The next request is admitted in').first().waitFor();
    for (let refusals = 0; refusals < 4; refusals++) await api().ask(limited, 'GET /account');
    await page.reload();
    await page.getByText('This key is banned').first().waitFor();
  });

  it('an API that is away and comes back', async () => {
    visitor.expects('net::');
    const { page } = visitor;
    await visit('#/usage');
    await page.getByText('Requests in a minute').waitFor();
    await page.context().setOffline(true);
    await visitor.button('Refresh').click();
    await page.getByText('Sluice cannot be reached.').first().waitFor();
    await page.context().setOffline(false);
    await page.getByText('Sluice cannot be reached.').first().waitFor({ state: 'detached' });
  });

  it.each([
    ['markup', '<script>alert(1)</script><img src=x onerror=alert(1)>'],
    ['256 KiB', 'x'.repeat(262_144)],
    ['right-to-left text and emoji', 'مرحبا 👩‍👩‍👧‍👦 <b>'],
  ])('a message is shown as it is: %s', async (_, message) => {
    const { id } = await api().sent(account, { message });
    const { page } = visitor;
    page.on('dialog', () => {
      throw new Error('The message was run.');
    });
    await page.setViewportSize({ width: 390, height: 844 });
    await visit(`#/messages/${id}`);
    const body = page.getByLabel('The text of the message');
    await body.waitFor();
    const all = page.getByRole('button', { name: /^Show all/ });
    if ((await all.count()) > 0) await all.click();
    expect(await body.textContent()).toBe(message);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });
});
