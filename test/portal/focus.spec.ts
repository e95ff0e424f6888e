import { Fleet } from '../support/fleet.js';
import { accountForEach, OPERATOR, ownApi, type Account } from '../support/api.js';
import { until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';

/** What covers the focus: the bars of a phone are fixed. Null where nothing does. */
const COVER = `(() => {
  const focused = document.activeElement.closest('tr') ?? document.activeElement;
  if (focused === document.body) return null;
  const { left, top, height } = focused.getBoundingClientRect();
  const at = document.elementFromPoint(Math.max(0, left) + 8, top + height / 2);
  if (at === null) return 'the edge of the window';
  const bar = at.closest('.sidebar, .selected');
  return bar === null || bar.contains(focused) ? null : bar.className;
})()`;

describeUnless(missing)('In the portal, the keyboard reaches nothing that is covered', () => {
  let fleet: Fleet;
  let account: Account;
  const visitor = Visitor.forEach();

  beforeAll(async () => {
    fleet = await Fleet.start();
    account = await fleet.client.signUp();
    const messages = Array.from({ length: 30 }, (_, index) => `number ${index}`);
    await fleet.client.sendBatch(account, { messages });
  });
  afterAll(() => fleet.stop());

  /** Of phones and screens, and of a screen that is magnified four times. */
  const sizes = [
    ...[[320, 256] as const, [320, 568] as const, [340, 640] as const],
    ...[[390, 844] as const, [640, 360] as const, [1440, 844] as const],
  ];
  const cases = sizes.flatMap((size) =>
    ['#/', '#/send', '#/messages', '#/settings', '#/usage'].map((hash) => [hash, ...size, 'Tab', 'Shift+Tab'] as const),
  );
  const rows = sizes.map((size) => ['#/messages', ...size, 'j', 'k'] as const);

  it.each([...cases, ...rows])('%s, %i by %i pixels, by %s and %s', async (hash, width, height, forth, back) => {
    const { page } = visitor;
    await page.setViewportSize({ width, height });
    await visitor.visit(fleet.client.url, account.key, hash);
    await page.getByRole('heading', { level: 1 }).waitFor();
    // Until then, what is loaded moves what is below it.
    await until(async () => (await page.locator('.skeleton').count()) === 0);
    if (forth === 'j') {
      await page.keyboard.press('j');
      await page.keyboard.press('x');
      await page.locator('.selected').waitFor();
    }
    const covered = [];
    for (const key of [...Array<string>(40).fill(forth), ...Array<string>(40).fill(back)]) {
      await page.keyboard.press(key);
      const cover = await page.evaluate(COVER);
      if (cover !== null) covered.push(cover);
    }
    expect(covered).toEqual([]);
  });
});

describeUnless(missing)('In the portal, the focus', () => {
  const api = ownApi();
  const account = accountForEach(api);
  const visitor = Visitor.forEach();
  const FOCUSED = `document.activeElement.tagName + ' ' + (document.activeElement.value || document.activeElement.innerText)`;
  const press = async (...names: string[]) => {
    for (const name of names) await visitor.button(name).first().press('Enter');
  };
  const visitOperators = async (hash: string) => {
    await visitor.page.addInitScript(`sessionStorage.setItem('sluice.operators-key', ${JSON.stringify(OPERATOR.key)})`);
    await visitor.page.goto(`${api.managementUrl}/${hash}`);
  };
  const selectAll = async (status: string) => {
    const body = { message: 'later', deliverAt: new Date(Date.now() + 3_600_000) };
    await api.sent(account, { body });
    await visitor.visit(api.url, account.key, `#/messages?status=${status}`);
    await visitor.page.getByLabel('Select all that are shown').press('Space');
  };

  it('stays at a switch that is used', async () => {
    const { page } = visitor;
    await visitor.visit(api.url, account.key, '#/settings');
    await page.getByRole('switch').focus();
    for (const isPaused of [true, false]) {
      await page.keyboard.press('Space');
      await until(async () => (await api.ask(account)).body.paused === isPaused);
      await until(async () => (await page.getByRole('switch').isChecked()) === isPaused);
      expect(await page.evaluate('document.activeElement.role')).toBe('switch');
    }
  });

  it.each<[string, string, () => Promise<void>]>([
    [
      'the heading, when a first key is stored',
      'H1 Send',
      async () => {
        await visitor.page.goto(api.url);
        await visitor.page.getByLabel('Name of the account').fill('Acme');
        await visitor.page.keyboard.press('Enter');
        await press('I have stored it', 'Yes, it is stored');
      },
    ],
    [
      'the heading, when nothing is selected any more',
      'H1 Messages',
      async () => {
        await selectAll('queued');
        await press('Clear');
      },
    ],
    [
      'what ends a dialog, when all is done in it',
      'BUTTON Done',
      async () => {
        await selectAll('queued');
        await press('Cancel', 'Cancel them');
      },
    ],
    [
      'the heading, when there is no more to load',
      'H1 Accounts',
      async () => {
        for (let number = 0; number < 26; number++) {
          await api.ask(OPERATOR, 'POST /admin/accounts', { name: `number ${number}` });
        }
        await visitOperators('#/accounts?name=number');
        await press('Load more');
      },
    ],
    [
      'a name that is saved and is the heading as well',
      'INPUT Renamed',
      async () => {
        await visitOperators(`#/accounts/${account.id}`);
        await visitor.page.getByLabel('Name', { exact: true }).fill('Renamed');
        await visitor.page.keyboard.press('Enter');
        await visitor.page.getByRole('heading', { name: 'Renamed' }).waitFor();
      },
    ],
  ])('is at %s', async (_where, expected, act) => {
    visitor.page.setDefaultTimeout(15_000);
    await act();
    await until(async () => (await visitor.page.evaluate(FOCUSED)) === expected);
  });
});
