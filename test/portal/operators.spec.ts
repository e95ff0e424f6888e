import { expectProblem, OPERATOR, ownApi, pageOf, type Account } from '../support/api.js';
import { until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';

const HOUR_MS = 3_600_000;
const REASON = '30 requests within a minute after the limit was exceeded';

describeUnless(missing)('On the page for operators', () => {
  const api = ownApi();
  const visitor = Visitor.forEach();
  let account: Account;

  beforeEach(async () => {
    await api.sql('DELETE FROM sluice.offences');
    account = await api.signUp('free');
  });

  /** Opens a view, signed in. */
  async function visit(hash: string): Promise<void> {
    await visitor.page.addInitScript(`if (!sessionStorage.getItem('asked')) {
      sessionStorage.setItem('asked', 'yes');
      sessionStorage.setItem('sluice.operators-key', ${JSON.stringify(OPERATOR.key)});
    }`);
    await visitor.page.goto(`${api.managementUrl}/${hash}`);
  }

  const visitAccount = () => visit(`#/accounts/${account.id}`);
  const stored = async () => (await api.ask(OPERATOR, `GET /admin/accounts/${account.id}`)).body;
  const dialog = () => visitor.page.getByRole('dialog');

  /** Bans the key of the account as the limiter does. */
  const ban = () =>
    api.sql(
      `INSERT INTO sluice.offences (key_id, account_id, bans, banned_at_ms, banned_until_ms, reason)
       VALUES ($1, $2, 1, $3, $4, $5)`,
      [account.keyId, account.id, Date.now(), Date.now() + HOUR_MS, REASON],
    );

  it('an operator signs in, stays so after a reload, and signs out', async () => {
    visitor.expects('401');
    const { page } = visitor;
    await page.goto(api.managementUrl);
    for (const wrong of [account.key, 'wrong']) {
      await page.getByLabel('Operators\u2019 key').fill(wrong);
      await visitor.button('Sign in').click();
      await page.getByText('This is not the operators\u2019 key.').waitFor();
      await page.reload();
    }
    await page.getByLabel('Operators\u2019 key').fill(OPERATOR.key);
    await page.keyboard.press('Enter');
    await page.getByText(account.id).waitFor();
    await page.reload();
    await page.getByText(account.id).waitFor();
    expect(page.url()).not.toContain(OPERATOR.key);
    expect(await page.context().cookies()).toEqual([]);
    await visitor.button('Sign out').click();
    await page.getByText('You are signed out.').waitFor();
    await page.reload();
    await page.getByLabel('Operators\u2019 key').waitFor();
  });

  it('a key that no longer works signs out, and says so', async () => {
    visitor.expects('401');
    const { page } = visitor;
    await visit('#/accounts');
    await page.getByText(account.id).waitFor();
    await page.route('**/admin/**', (route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer another' } }),
    );
    await page.getByRole('link', { name: 'Bans' }).click();
    await page.getByText('The key no longer works').waitFor();
    expect(await page.evaluate(`sessionStorage.getItem('sluice.operators-key')`)).toBeNull();
  });

  it('the newest accounts are listed, and older ones when asked for', async () => {
    const { page } = visitor;
    for (let count = 0; count < 25; count++) await api.signUp('free');
    await visit('#/accounts');
    await page.locator('tbody tr').nth(24).waitFor();
    expect(await page.getByText(account.id).count()).toBe(0);
    await visitor.button('Load more').click();
    await page.getByText(account.id).click();
    await page.getByText('60 requests a minute, 1,000 a day').waitFor();
  });

  it('an account is opened by its id, or said not to exist', async () => {
    visitor.expects('404');
    const { page } = visitor;
    await visit('#/accounts');
    await page.getByLabel('Open by id').fill(` ${account.id} `);
    await page.keyboard.press('Enter');
    await page.getByText('60 requests a minute, 1,000 a day').waitFor();
    await page.goBack();
    await page.getByLabel('Open by id').fill('acct_?/#');
    await page.keyboard.press('Enter');
    await page.getByText('There is no account with this id.').waitFor();
  });

  it('an account is created, found by its name and its external id, and renamed', async () => {
    visitor.expects('409');
    const { page } = visitor;
    const mark = account.id.slice(-8);
    await visit('#/accounts');
    await visitor.button('Create an account').click();
    await dialog().getByLabel('Name').fill(`Blue Whale ${mark}`);
    await dialog().getByLabel('Plan').selectOption('pro');
    await dialog().getByLabel('External id').fill(`whale-${mark}`);
    await visitor.button('Create the account').click();
    const key = await dialog().getByLabel('API key', { exact: true }).innerText();
    const { id } = (await api.ask(key)).body;
    await page.keyboard.press('Escape');
    await visitor.button('I have stored it').click();
    await visitor.button('Yes, it is stored').click();
    await page.getByRole('heading', { name: `Blue Whale ${mark}` }).waitFor();
    expect((await api.ask(key)).body).toMatchObject({ name: `Blue Whale ${mark}`, plan: 'pro' });

    await page.getByRole('link', { name: 'Accounts' }).first().click();
    await visitor.button('Create an account').click();
    await dialog().getByLabel('Name').fill('Another');
    await dialog().getByLabel('External id').fill(`whale-${mark}`);
    await page.keyboard.press('Enter');
    await dialog().getByText('Another account has this externalId').waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    for (const [label, text] of [
      ['Name contains', `WHALE ${mark}`],
      ['External id', `whale-${mark}`],
    ] as const) {
      await page.getByLabel(label).fill(text);
      await visitor.button('Search').click();
      await until(async () => (await page.locator('tbody tr').count()) === 1);
      await page.getByLabel(label).fill('');
    }
    await page.getByLabel('Name contains').fill(`nobody ${mark}`);
    await visitor.button('Search').click();
    await page.getByText('There are no such accounts').waitFor();
    await page.getByRole('link', { name: 'Show all accounts' }).click();
    await page.getByText(String(id)).click();
    await page.getByLabel('Name', { exact: true }).fill('Grey Whale');
    await page.getByLabel('External id').fill('');
    await visitor.button('Save the name').click();
    await page.getByRole('heading', { name: 'Grey Whale' }).waitFor();
    const { body } = await api.ask(OPERATOR, `GET /admin/accounts/${String(id)}`);
    expect(body).toMatchObject({ name: 'Grey Whale', externalId: null });
  });

  it('an account is deleted once its name is typed', async () => {
    const { page } = visitor;
    await visitAccount();
    await visitor.button('Delete').click();
    const confirm = dialog().getByRole('button', { name: 'Delete the account' });
    expect(await confirm.isDisabled()).toBe(true);
    await dialog().getByLabel('Type Test to confirm').fill('Tes');
    await page.keyboard.press('Enter');
    expect(await confirm.isDisabled()).toBe(true);
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    expect(await stored()).toMatchObject({ name: 'Test' });
    await visitor.button('Delete').click();
    await dialog().getByLabel('Type Test to confirm').fill('Test');
    await confirm.click();
    await page.getByText('Newest first').waitFor();
    expect(await page.getByText(account.id).count()).toBe(0);
    expect(await api.knows(account)).toBe(false);
  });

  it('a plan is changed, and for enterprise its limits', async () => {
    const { page } = visitor;
    await visitAccount();
    await page.getByLabel('Plan', { exact: true }).selectOption('business');
    await visitor.button('Save').click();
    await page.getByText('1,000 requests a minute, 100,000 a day').waitFor();
    expect(await stored()).toMatchObject({ plan: 'business' });
    await page.getByLabel('Plan', { exact: true }).selectOption('enterprise');
    await page.getByLabel('Requests a minute').fill('5000');
    await page.getByLabel('Requests a day').fill('700000');
    await page.keyboard.press('Enter');
    await page.getByText('5,000 requests a minute, 700,000 a day').waitFor();
    expect(await stored()).toMatchObject({ plan: 'enterprise', limits: { perMinute: 5_000, perDay: 700_000 } });
  });

  it('a plan is created, changed, given to an account, and not deleted while it has one', async () => {
    visitor.expects('409');
    const { page } = visitor;
    await visit('#/plans');
    await page.getByText('limits agreed with each account').waitFor();
    await page.getByRole('link', { name: 'Create a plan' }).click();
    await page.getByLabel('Name').fill('gold');
    await page.getByLabel('Requests a minute').fill('600');
    await page.getByLabel('Requests a day').fill('50000');
    await page.getByLabel('Endpoints').fill('20');
    await visitor.button('Save').click();
    await page.getByText('0 accounts on this plan.').waitFor();
    await page.getByLabel('Requests a minute').fill('700');
    await page.getByLabel('Endpoints').fill('');
    await page.keyboard.press('Enter');
    await until(async () => {
      const { body } = await api.ask(OPERATOR, 'GET /admin/plans/gold');
      return body.maxEndpoints === null && (body.limits as { perMinute: number }).perMinute === 700;
    });
    await visitAccount();
    await page.goto(`${api.managementUrl}/#/accounts/${account.id}`);
    await page.getByLabel('Plan', { exact: true }).selectOption('gold');
    await visitor.button('Save').click();
    await page.getByText('700 requests a minute, 50,000 a day').waitFor();
    await page.getByRole('link', { name: 'Plans' }).click();
    await page.getByRole('link', { name: 'gold' }).click();
    await page.getByText('1 account on this plan.').waitFor();
    await visitor.button('Delete').click();
    await visitor.button('Delete the plan').click();
    await dialog().getByText('The plan cannot be deleted: accounts have it.').waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { plan: 'free' });
    await visitor.button('Delete').click();
    await visitor.button('Delete the plan').click();
    await page.getByRole('link', { name: 'enterprise' }).waitFor();
    await page.getByRole('link', { name: 'gold' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByText('operator: plan.deleted').waitFor();
    await page.getByText('operator: plan.changed').waitFor();
    await page.getByText(account.id).first().waitFor();
  });

  it('a plan that another operator has changed meanwhile is not overwritten', async () => {
    visitor.expects('412');
    const { page } = visitor;
    await api.ask(OPERATOR, 'PUT /admin/plans/silver', { limits: { perMinute: 5, perDay: 50 } });
    await visit('#/plans/silver');
    await page.getByLabel('Requests a minute').fill('6');
    await api.ask(OPERATOR, 'PUT /admin/plans/silver', { limits: { perMinute: 7, perDay: 70 } });
    await visitor.button('Save').click();
    await page.getByText('Somebody else has changed the plan').waitFor();
    const { body } = await api.ask(OPERATOR, 'GET /admin/plans/silver');
    expect(body).toMatchObject({ limits: { perMinute: 7, perDay: 70 } });
  });

  it('a plan with the longest name and the greatest limits fits wherever it is shown', async () => {
    const { page } = visitor;
    const name = 'z'.repeat(40);
    const limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };
    const plan = { limits, maxStoredBytes: Number.MAX_SAFE_INTEGER, maxEndpoints: 100 };
    await api.ask(OPERATOR, `PUT /admin/plans/${name}`, plan);
    await api.ask(OPERATOR, `PATCH /admin/accounts/${account.id}`, { plan: name });
    for (const hash of ['#/plans', `#/plans/${name}`, '#/accounts', `#/accounts/${account.id}`, '#/audit']) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await visit(hash);
      await page.getByText(name).first().waitFor({ state: 'attached' });
      await visitor.expectGoodLooks('operators-longest-plan');
    }
    // What is saved is what was shown.
    await visit(`#/plans/${name}`);
    await page.getByLabel('Endpoints').fill('99');
    await visitor.button('Save').click();
    const saved = async () => (await api.ask(OPERATOR, `GET /admin/plans/${name}`)).body;
    await until(async () => (await saved()).maxEndpoints === 99);
    expect(await saved()).toMatchObject({ ...plan, maxEndpoints: 99 });
  });

  it('an account is suspended, found, and resumed', async () => {
    const { page } = visitor;
    await visitAccount();
    await visitor.button('Suspend').click();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    expect(await stored()).toMatchObject({ suspended: false });
    await visitor.button('Suspend').click();
    await visitor.button('Suspend the account').click();
    await page.getByText('suspended', { exact: true }).waitFor();
    expectProblem(await api.ask(account.key), 403, 'account_suspended');
    await page.getByRole('link', { name: 'Accounts' }).first().click();
    await page.getByRole('link', { name: 'suspended', exact: true }).click();
    await until(async () => (await page.locator('tbody tr').count()) === 1);
    await page.getByText(account.id).click();
    await visitor.button('Resume').click();
    await visitor.button('Resume the account').click();
    await visitor.button('Suspend').waitFor();
    expect((await api.ask(account.key)).status).toBe(200);
  });

  it('a key is revoked', async () => {
    const { page } = visitor;
    await visitAccount();
    await visitor.button('Revoke first key').click();
    await visitor.button('Revoke the key').click();
    await page.getByText('The account has no key').waitFor();
    expect(await api.knows(account)).toBe(false);
  });

  it('a key is created by the keyboard, and shown once', async () => {
    visitor.expects('400');
    const { page } = visitor;
    await visitAccount();
    await visitor.button('Create a key').focus();
    await page.keyboard.press('Enter');
    await dialog().getByLabel('Name').waitFor();
    await dialog().getByLabel('Name').fill('x'.repeat(101));
    await dialog().getByLabel('Read messages').focus();
    await page.keyboard.press('Space');
    await dialog().getByLabel('Expires').selectOption('In 30 days');
    await page.keyboard.press('Enter');
    await dialog().getByText('name must have 1 to 100 characters').waitFor();
    await dialog().getByLabel('Name').fill('way back');
    await visitor.expectGoodLooks('operators-create-key');
    await page.keyboard.press('Enter');
    const key = await dialog().getByLabel('API key', { exact: true }).innerText();
    await visitor.storeSecret();
    expect(await page.getByText(key).count()).toBe(0);
    await page.getByRole('heading', { name: 'way back' }).waitFor();
    const { body } = await api.ask(key, 'GET /api-keys/current');
    expect(body).toMatchObject({ name: 'way back', scopes: ['messages:read'] });
    expect(Date.parse(String(body.expiresAt)) - Date.now()).toBeGreaterThan(29.9 * 24 * HOUR_MS);
  });

  it('a link to the portal is made by the keyboard, shown once, opens the portal, and is revoked', async () => {
    visitor.expects('401');
    const { page } = visitor;
    await visitAccount();
    await visitor.button('Create a portal link').focus();
    await page.keyboard.press('Enter');
    await dialog().getByLabel('Read messages').waitFor();
    expect(await dialog().getByLabel('Read messages').isChecked()).toBe(true);
    await dialog().getByLabel('Send, cancel').focus();
    await page.keyboard.press('Space');
    await dialog().getByLabel('Expires').selectOption('After 8 hours');
    await visitor.expectGoodLooks('operators-create-link');
    await visitor.button('Create the link').press('Enter');
    const url = await dialog().getByLabel('portal link', { exact: true }).innerText();
    await visitor.expectGoodLooks('operators-link');
    await visitor.storeSecret();
    expect(await page.getByText(url).count()).toBe(0);
    await page.getByRole('heading', { name: 'Portal link' }).waitFor();
    const { data } = pageOf<{ scopes: string[]; expiresAt: string }>(await api.ask(account.key, 'GET /api-keys'));
    expect(data[0]?.scopes).toEqual(['messages:read', 'messages:send']);
    expect(Date.parse(data[0]?.expiresAt ?? '') - Date.now()).toBeGreaterThan(7.9 * HOUR_MS);

    const customer = await page.context().newPage();
    await customer.goto(url);
    await customer.getByRole('heading', { name: 'Send' }).waitFor();
    await visitor.button('Revoke Portal link').click();
    await visitor.button('Revoke the key').click();
    await visitor.button('Revoke Portal link').waitFor({ state: 'detached' });
    // Not by a click: the page may notice the revocation by itself, and the link is gone then.
    await customer.evaluate(`location.hash = '#/messages'`);
    await customer.getByText('Your API key no longer works').waitFor();
  });

  it('a link to the portal says why it cannot be made', async () => {
    visitor.expects('409');
    const { page } = visitor;
    await api.sql(
      `INSERT INTO sluice.api_keys (id, account_id, name, hash, scopes, created_at)
       SELECT 'key_' || gen_random_uuid(), $1, 'filling', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), '{}', now()
       FROM generate_series(1, 99)`,
      [account.id],
    );
    await visitAccount();
    await visitor.button('Create a portal link').click();
    await visitor.button('Create the link').click();
    await dialog().getByRole('alert').waitFor();
    expect(await dialog().getByRole('alert').innerText()).toContain('100');
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
  });

  it('a ban is seen where its key is, and lifted', async () => {
    visitor.expects('404');
    const { page } = visitor;
    await ban();
    expectProblem(await api.ask(account.key), 429, 'api_key_banned');
    await visit('#/bans');
    await page.getByText(REASON).waitFor();
    await page.getByText(account.id).click();
    await page.getByText('banned until').waitFor();
    await visitor.button(`Lift the ban of ${account.keyId}`).click();
    await until(async () => (await api.ask(account.key)).status === 200);
    await until(async () => (await page.getByText('banned until').count()) === 0);
    await ban();
    await page.getByRole('link', { name: 'Bans' }).click();
    await visitor.button(`Lift the ban of ${account.keyId}`).waitFor();
    // It ends meanwhile.
    await api.sql('DELETE FROM sluice.offences');
    await visitor.button(`Lift the ban of ${account.keyId}`).click();
    await page.getByText('No key is banned').waitFor();
  });

  it('the queue shows its depth as it changes, and how to look at the jobs', async () => {
    const { page } = visitor;
    await visit('#/queue');
    const waiting = page.getByRole('region', { name: 'Waiting' }).locator('.figure');
    await until(async () => /^\d+$/.test(await waiting.innerText()));
    const before = Number(await waiting.innerText());
    const { id } = await api.sent(account);
    await api.relayed(id);
    await until(async () => Number(await waiting.innerText()) === before + 1);
    await page.getByText('serving').waitFor();
    const link = page.getByRole('link', { name: 'Look at the jobs' });
    expect(await link.getAttribute('href')).toBe('/queues');
  });

  it('an outage is said once, and what could not be loaded is loaded afterwards', async () => {
    visitor.expects('net::', '503');
    const { page } = visitor;
    await visit('#/accounts');
    await page.getByText(account.id).waitFor();
    await page.route('**/admin/**', (route) => route.abort());
    await page.getByRole('link', { name: 'Bans' }).click();
    await page.getByText('Sluice cannot be reached.').waitFor();
    await page.getByText('Loaded as soon as Sluice can be reached.').waitFor();
    // The management port opens before the API.
    const body = JSON.stringify({ code: 'unavailable', detail: 'The process is starting or stopping.' });
    await page.unrouteAll();
    await page.route('**/admin/**', (route) => route.fulfill({ status: 503, body }));
    for (let count = 0; count < 2; count++) await page.waitForResponse('**/admin/**');
    await page.getByText('Loaded as soon as Sluice can be reached.').waitFor();
    await page.unrouteAll();
    await page.getByText('No key is banned').waitFor();
    await page.getByText('Sluice cannot be reached.').waitFor({ state: 'detached' });
  });

  it('the queue is shown again after a proxy has responded for it', async () => {
    visitor.expects('503');
    const { page } = visitor;
    await page.route('**/health/ready', (route) => route.fulfill({ status: 503, json: { status: 'down' } }));
    await visit('#/queue');
    await page.getByText('is not from Sluice').waitFor();
    await page.unrouteAll();
    await page.getByText('This API process').waitFor();
  });

  const VIEWS: readonly (readonly [name: string, hash: () => string, shown: string])[] = [
    ['sign-in', () => '', 'It stays in this tab'],
    ['accounts', () => '#/accounts', 'Newest first'],
    ['account', () => `#/accounts/${account.id}`, 'first key'],
    ['bans', () => '#/bans', REASON],
    ['plans', () => '#/plans', 'limits agreed with each account'],
    ['plan', () => '#/plans/pro', 'on this plan'],
    ['new-plan', () => '#/plans/+', 'It cannot be changed'],
    ['audit', () => '#/audit', 'newest first'],
    ['queue', () => '#/queue', 'serving'],
  ];

  it.each(VIEWS)('every view is accessible and fits: %s', async (name, hash, shown) => {
    const { page } = visitor;
    await ban();
    await page.setViewportSize({ width: 1440, height: 900 });
    if (name === 'sign-in') await page.goto(api.managementUrl);
    else await visit(hash());
    await page.getByText(shown).first().waitFor();
    await visitor.expectGoodLooks(`operators-${name}`);
  });

  it.each(VIEWS.filter(([name]) => name !== 'sign-in'))(
    'every view stays where it is while its responses arrive one after another: %s',
    async (_name, hash, shown) => {
      await ban();
      expect(await visitor.shiftWhileLoading(() => visit(hash()), shown)).toBeLessThan(0.05);
    },
  );
});
