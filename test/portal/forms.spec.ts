import { OPERATOR, ownApi, type Account } from '../support/api.js';
import { until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';

/** What is no whole number, or one of which nobody can say which. */
const NO_NUMBERS = ['20.000', '2.500.000', '1.5', '0.5', '1,000', '1 000', '1e10', '-5', '+7', '0x10', 'many'];
const LIMITS = { perMinute: 600, perDay: 50_000 };

describeUnless(missing)('A form', () => {
  const api = ownApi();
  const visitor = Visitor.forEach();
  let account: Account;
  let endpointId: string;
  const ask = async (route: string, body?: object) => (await api.ask(OPERATOR, route, body)).body;
  const ofAccount = () => `/admin/accounts/${account.id}`;
  const ofEndpoint = () => `/endpoints/${endpointId}`;
  const endpoint = async () => (await api.ask(account.key, `GET ${ofEndpoint()}`)).body;

  beforeEach(async () => {
    visitor.page.setDefaultTimeout(15_000);
    account = await api.signUp(LIMITS);
    await ask('PUT /admin/plans/gold', { limits: LIMITS, maxStoredBytes: 1_000_000, maxEndpoints: 20 });
    const input = { url: 'https://example.com/old', description: 'old', types: ['a'] };
    endpointId = String((await api.ask(account.key, 'POST /endpoints', input)).body.id);
    const keys = { 'sluice.operators-key': OPERATOR.key, 'sluice.key': account.key };
    await visitor.page.addInitScript(`for (const [name, key] of Object.entries(${JSON.stringify(keys)})) {
      sessionStorage.setItem(name, key);
    }`);
  });

  const open = (url: string) => visitor.page.goto(url);
  const openPlan = () => open(`${api.managementUrl}/#/plans/gold`);
  const openAccount = () => open(`${api.managementUrl}/#/accounts/${account.id}`);
  const openEndpoint = async () => {
    await open(`${api.url}/#${ofEndpoint()}`);
    await visitor.button('Edit').click();
  };
  const plan = () => ask('GET /admin/plans/gold');
  const stored = () => ask(`GET ${ofAccount()}`);

  it.each([
    ['Requests a minute', openPlan, plan, { limits: LIMITS }],
    ['Requests a day', openPlan, plan, { limits: LIMITS }],
    ['Stored bytes', openPlan, plan, { maxStoredBytes: 1_000_000 }],
    ['Endpoints', openPlan, plan, { maxEndpoints: 20 }],
    ['Requests a day', openAccount, stored, { limits: LIMITS }],
    ['Requests per second', openEndpoint, endpoint, { rateLimitPerSecond: 0 }],
    ['Requests per minute', () => open(`${api.url}/#/simulator`), stored, {}],
  ] as const)('keeps what is typed for "%s", and sends whole numbers only', async (label, openForm, now, before) => {
    const { page } = visitor;
    const writes: string[] = [];
    await openForm();
    const field = page.getByLabel(label, { exact: true });
    await field.waitFor();
    page.on('request', (request) => {
      if (request.method() !== 'GET') writes.push(request.postData() ?? '');
    });
    for (const text of NO_NUMBERS) {
      await field.fill('');
      await field.pressSequentially(text);
      await page.keyboard.press('Enter');
      await page.getByText('Write a whole number with digits only').waitFor();
      expect(await field.inputValue()).toBe(text);
    }
    expect(writes).toEqual([]);
    expect(await now()).toMatchObject(before);
    await field.fill(' 17 ');
    await page.keyboard.press('Enter');
    await until(() => writes.length === 1);
    if (label !== 'Requests per minute') expect(writes[0]).toContain('17');
  });

  it.each([
    {
      what: 'an external id',
      open: openAccount,
      fill: ['External id', 'customer-1'],
      save: 'Save the name',
      meanwhile: () => api.ask(account.key, 'PATCH /account', { name: 'Renamed' }),
      now: stored,
      expected: { name: 'Renamed', externalId: 'customer-1' },
    },
    {
      what: 'a limit',
      open: openAccount,
      fill: ['Requests a minute', '700'],
      save: 'Save',
      meanwhile: () => ask(`PATCH ${ofAccount()}`, { limits: { ...LIMITS, perDay: 80_000 } }),
      now: stored,
      expected: { plan: 'enterprise', limits: { perMinute: 700, perDay: 80_000 } },
    },
    {
      what: 'a limit of a plan that the account has no more',
      open: openAccount,
      fill: ['Requests a minute', '700'],
      save: 'Save',
      meanwhile: () => ask(`PATCH ${ofAccount()}`, { plan: 'pro' }),
      now: stored,
      expected: { plan: 'pro' },
      refused: 'limits can be set only with a plan',
    },
    {
      what: 'the description of an endpoint',
      open: openEndpoint,
      fill: ['Description (optional)', 'new'],
      save: 'Save',
      meanwhile: () =>
        api.ask(account.key, `PATCH ${ofEndpoint()}`, {
          ...{ url: 'https://example.com/new', types: ['b'], rateLimitPerSecond: 9 },
        }),
      now: endpoint,
      expected: { url: 'https://example.com/new', types: ['b'], rateLimitPerSecond: 9, description: 'new' },
    },
  ] as const)('that changes $what reverts nothing that was changed meanwhile', async (form) => {
    const { page } = visitor;
    const [label, text] = form.fill;
    await form.open();
    await page.getByLabel(label, { exact: true }).waitFor();
    await form.meanwhile();
    await page.getByLabel(label, { exact: true }).fill(text);
    if ('refused' in form) visitor.expects('400');
    await visitor.button(form.save).click();
    if ('refused' in form) await page.getByText(form.refused).waitFor();
    else await page.getByText('is changed.').first().waitFor();
    expect(await form.now()).toMatchObject(form.expected);
  });

  it.each([
    ['the name of the account', () => openSettings(), 'Name', 'Rename'],
    ['an external id', openAccount, 'External id', 'Save the name'],
    ['a limit of an account', openAccount, 'Requests a minute', 'Save'],
    ['a plan', openPlan, 'Endpoints', 'Save'],
  ] as const)('that changes %s keeps what is typed while it is saved, and can be saved again', async (...form) => {
    const { page } = visitor;
    const [, openForm, label, save] = form;
    await openForm();
    const field = page.getByLabel(label, { exact: true });
    const change = await saveSlowly(async () => {
      await field.fill('70');
      await visitor.button(save).click();
    });
    await field.fill('71');
    await change();
    expect(await field.inputValue()).toBe('71');
    const again = page.waitForRequest((request) => (request.postData() ?? '').includes('71'));
    await visitor.button(save).click();
    await again;
  });

  it('that changes the way of delivery keeps what is chosen while it is saved', async () => {
    const { page } = visitor;
    await openSettings();
    const choose = (title: string) => page.getByRole('radio', { name: title }).check();
    const change = await saveSlowly(async () => {
      await choose('Pull');
      await visitor.button('Save').click();
    });
    await choose('Worker');
    await change();
    expect(await page.getByRole('radio', { name: 'Worker' }).isChecked()).toBe(true);
  });

  const openSettings = () => open(`${api.url}/#/settings`);

  /** @returns lets the response to what was saved arrive */
  async function saveSlowly(act: () => Promise<void>): Promise<() => Promise<void>> {
    const { page } = visitor;
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    let isHeld = false;
    await page.route(
      () => true,
      async (route) => {
        if (isHeld || !['PATCH', 'PUT'].includes(route.request().method())) return route.fallback();
        isHeld = true;
        const response = await route.fetch();
        await held;
        return route.fulfill({ response });
      },
    );
    await act();
    await until(() => isHeld);
    return async () => {
      answer();
      await page.locator('.toast').waitFor();
    };
  }
});
