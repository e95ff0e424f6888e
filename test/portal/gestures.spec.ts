import { accountForEach, sharedApi } from '../support/api.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';

describeUnless(missing)('In the portal', () => {
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
  ] as const)('a message is sent once %s, also when it is stored meanwhile', async (_how, target, keys) => {
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

  it('the second click of a double click is none on the action that has taken the place of the first one', async () => {
    const { page } = visitor;
    await api.ask(account, 'PATCH /account', { paused: true });
    const { id } = await api.sent(account);
    await api.sql(`UPDATE sluice.messages SET status = 'failed', updated_at = now() WHERE id = $1`, [id]);
    await visitor.visit(api.url, account.key, `#/messages/${id}`);
    await visitor.button('Retry').hover();
    for (const [clickCount, shown] of [
      [1, 'Cancel the message'],
      [2, 'Cancel the message'],
    ] as const) {
      await page.mouse.down({ clickCount });
      await page.mouse.up({ clickCount });
      await visitor.button(shown).waitFor();
    }
    await page.reload();
    await visitor.button('Cancel the message').waitFor();
    expect((await api.ask(account, `GET /messages/${id}`)).body).toMatchObject({ status: 'queued' });
  });
});
