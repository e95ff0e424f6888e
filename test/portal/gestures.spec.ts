import { accountForEach, sharedApi } from '../support/api.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';

describeUnless(missing)('In the portal, a message is sent once', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const visitor = Visitor.forEach();
  const field = (name: string) => visitor.page.getByLabel(name, { exact: true });
  const button = () => visitor.button('Send the message');
  const shown = (text: string) => visitor.page.locator('.sent').getByText(text).waitFor();

  it.each([
    ['by a double click', button, null],
    ['by Enter, held on the button', button, ['Enter']],
    ['by Enter, held in a field', () => field('Deliver at (optional)'), ['Enter']],
    ['by Ctrl and Enter, held in the text', () => field('Message'), ['Control', 'Enter']],
    ['by ⌘ and Enter, held in the text', () => field('Message'), ['Meta', 'Enter']],
  ] as const)('%s, also when it is stored meanwhile', async (_how, target, keys) => {
    const { page } = visitor;
    await visitor.visit(api.url, account.key, '#/send');
    await field('Message').fill('first');
    await target().focus();
    if (keys === null) await target().hover();
    for (const clickCount of [1, 2]) {
      if (keys === null) {
        await page.mouse.down({ clickCount });
        await page.mouse.up({ clickCount });
      } else for (const key of keys) await page.keyboard.down(key);
      await shown('first');
    }
    for (const key of keys ?? []) await page.keyboard.up(key);
    await field('Message').fill('second');
    await field('Message').press('Control+Enter');
    await shown('second');
    const { data } = (await api.ask(account, 'GET /messages')).body as { data: { message: string }[] };
    expect(data.map(({ message }) => message)).toEqual(['second', 'first']);
  });
});
