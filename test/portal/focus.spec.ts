import { Fleet } from '../support/fleet.js';
import type { Account } from '../support/api.js';
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

  const cases = [390, 1440].flatMap((width) =>
    ['#/', '#/send', '#/messages', '#/settings', '#/usage'].map((hash) => [hash, width, 'Tab', 'Shift+Tab'] as const),
  );
  const rows = [390, 1440].map((width) => ['#/messages', width, 'j', 'k'] as const);

  it.each([...cases, ...rows])('%s, %i pixels wide, by %s and %s', async (hash, width, forth, back) => {
    const { page } = visitor;
    await page.setViewportSize({ width, height: 844 });
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
