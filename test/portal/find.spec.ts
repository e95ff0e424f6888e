import { lowestId } from '#kernel/ids.js';
import { accountForEach, pageOf, sharedApi } from '../support/api.js';
import { until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';

const HOUR_MS = 3_600_000;
/** As a control for times takes it. */
const local = (at: number) => new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

describeUnless(missing)('In the portal, a message is found', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const visitor = Visitor.forEach();
  const visit = (hash: string) => visitor.visit(api.url, account.key, hash);
  const send = async (message: string, fields: object = {}) =>
    (await api.sent(account, { body: { message, ...fields } })).id;
  const acceptedAgo = async (id: string, ms: number) => {
    const at = new Date(Date.now() - ms);
    const older = lowestId('msg', at);
    await api.sql('UPDATE sluice.messages SET id = $2, created_at = $3 WHERE id = $1', [id, older, at]);
    return older;
  };
  const focused = async (text: string) =>
    until(async () => String(await visitor.page.evaluate('document.activeElement.textContent')).includes(text));

  it('by the time of its acceptance, which the address has, and so has Back', async () => {
    const { page } = visitor;
    await acceptedAgo(await send('long ago'), 30 * HOUR_MS);
    await acceptedAgo(await send('some hours ago'), 5 * HOUR_MS);
    await send('just now');
    await visit('#/messages');
    await page.getByText('just now').waitFor();
    await page.getByText('Time and endpoint').click();
    await page.getByLabel('From').fill(local(Date.now() - 24 * HOUR_MS));
    await page.getByLabel('Jump to (before)').fill(local(Date.now() - HOUR_MS));
    await visitor.expectGoodLooks('portal-find-time');
    await page.getByLabel('Jump to (before)').press('Enter');
    await page.getByText('just now').waitFor({ state: 'detached' });
    await page.getByText('some hours ago').waitFor();
    expect(await page.getByText('long ago').count()).toBe(0);
    expect(page.url()).toMatch(/#\/messages\?since=\d{4}-.*Z&until=\d{4}-.*Z$/);
    await page.reload();
    await page.getByText('some hours ago').waitFor();
    await until(async () => /^Messages since .+ before .+ · Sluice$/.test(await page.title()));
    // What happens now is not of this time.
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'queued' }).click();
    await page.getByText('some hours ago').waitFor();
    expect(page.url()).toMatch(/since=.*&until=.*/);
    await page.getByRole('link', { name: 'Clear' }).click();
    await page.getByText('just now').waitFor();
    expect(page.url()).toMatch(/#\/messages\?status=queued$/);
  });

  it('by a time that is typed digit by digit', async () => {
    const { page } = visitor;
    await visit('#/messages');
    await page.getByText('Time and endpoint').click();
    await page.getByLabel('From').focus();
    await page.keyboard.type('112920260930AM');
    expect(await page.getByLabel('From').inputValue()).toBe('2026-11-29T09:30');
  });

  it.each(['Control+k', '?'])(
    'by keys, and %s opens no dialog that stays over the view to which Back leads',
    async (key) => {
      const { page } = visitor;
      await visit('#/messages');
      await page.getByRole('link', { name: 'Usage' }).first().click();
      await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
      await page.keyboard.press(key);
      await page.getByRole('dialog').waitFor();
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    },
  );

  it('on one page beside other large ones, of which only the beginning is loaded', async () => {
    const { page } = visitor;
    const loaded: number[] = [];
    // Read on the way: the browser may keep nothing of a body that a page reads as a stream.
    await page.route('**/messages?*', async (route) => {
      const response = await route.fetch();
      loaded.push((await response.body()).length);
      return route.fulfill({ response });
    });
    for (let sent = 0; sent < 8; sent++) await send(`${sent} of 8 ${'x'.repeat(200_000)}`);
    await visit('#/messages');
    for (let sent = 0; sent < 8; sent++) await page.getByText(`${sent} of 8 xxx`).waitFor();
    expect(loaded).not.toEqual([]);
    expect(Math.max(...loaded)).toBeLessThan(20_000);
  });

  it('not among new ones, while those of another time are listed', async () => {
    const { page } = visitor;
    const id = await acceptedAgo(await send('some hours ago'), 5 * HOUR_MS);
    await visit(`#/messages?until=${new Date(Date.now() - HOUR_MS).toISOString()}`);
    await page.getByText('some hours ago').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await send('just now');
    await api.ask(account, `POST /messages/${id}/cancel`);
    await page.getByRole('row', { name: 'some hours ago' }).getByText('cancelled').waitFor();
    expect(await page.getByText('just now').count()).toBe(0);
  });

  it('below a hundred newer ones, on the next page', async () => {
    const { page } = visitor;
    const messages = Array.from({ length: 101 }, (_, index) => `number ${index}`);
    await api.sendBatch(account, { messages });
    await visit('#/messages');
    await page.getByText('number 100').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(100);
    await page.getByRole('link', { name: 'Older' }).click();
    await page.getByText('number 0', { exact: true }).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(1);
  });

  it('by an id that is pasted anywhere, typed as a type, or into the palette', async () => {
    const { page } = visitor;
    const id = await send('the one');
    const shown = () => page.getByLabel('The text of the message').getByText('the one').waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await visit('#/usage');
    await page.getByText('Requests in a minute').waitFor();
    await page.evaluate(`navigator.clipboard.writeText('{"level":"error","id":"${id}"}')`);
    await page.keyboard.press('Control+v');
    await shown();
    await page.getByRole('link', { name: 'Messages', exact: true }).first().click();
    await page.getByLabel('Type', { exact: true }).fill(` ${id} `);
    await page.keyboard.press('Enter');
    await shown();
    await visit('#/usage');
    await page.reload();
    await page.getByText('Requests in a minute').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type(id);
    await page.getByRole('option', { name: `Open ${id}` }).waitFor();
    await page.keyboard.press('Enter');
    await shown();
  });

  it('by the palette: a page, a status, a type, a time', async () => {
    const { page } = visitor;
    await visit('#/messages');
    await page.getByText('Send your first message').waitFor();
    const go = async (text: string, address: RegExp) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Page, id, type or time' }).fill(text);
      await page.getByRole('option').first().waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await until(async () => Promise.resolve(address.test(page.url())));
    };
    await go('api k', /#\/keys$/);
    await go('failed', /#\/messages\?status=failed$/);
    await go('order.*', /#\/messages\?type=order.\*$/);
    await go('2026-11-21 09:30', /#\/messages\?until=2026-11-2\d.*Z$/);
    await go('2026-11-21T09:30:00.5+01:00', /until=2026-11-21T08%3A30%3A00.500Z$/);
    await visitor.button('Find').click();
    await page.getByRole('option').nth(1).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { selected: true, name: 'Send' }).waitFor();
    await visitor.expectGoodLooks('portal-palette');
    await page.keyboard.type('no such page!');
    await page.getByText('Nothing is found.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('by the keys j and k, selected by x, and ? says so', async () => {
    const { page } = visitor;
    await send('apples');
    await send('pears');
    await visit('#/messages');
    await page.getByText('apples').waitFor();
    await page.keyboard.press('j');
    await focused('pears');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await focused('apples');
    await page.keyboard.press('x');
    await page.getByText('1 message selected').waitFor();
    await page.keyboard.press('k');
    await focused('pears');
    await page.getByLabel('Type', { exact: true }).focus();
    await page.keyboard.type('xjk?');
    expect(await page.getByLabel('Type', { exact: true }).inputValue()).toBe('xjk?');
    await page.getByLabel('Select pears').focus();
    await page.keyboard.press('Shift+?');
    const help = page.getByRole('dialog', { name: 'Keyboard' });
    await help.getByText('Open the row').waitFor();
    await visitor.expectGoodLooks('portal-keyboard');
    await help.getByLabel('Single keys').uncheck();
    await page.keyboard.press('Escape');
    await page.reload();
    await page.getByText('apples').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Shift+?');
    await until(async () => (await page.evaluate('document.activeElement.tagName')) === 'H1');
    expect(await help.count()).toBe(0);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Find' }).waitFor();
  });

  it('in the text of a tab', async () => {
    const { page } = visitor;
    const id = await send('Order 4711 is paid');
    await api.become(id, 'failed');
    const titles = {
      '#/messages?status=failed&type=order.*': 'Failed messages of type order.* · Sluice',
      '#/messages': 'Messages · Sluice',
      [`#/messages/${id}`]: 'Order 4711 is paid · failed message · Sluice',
      '#/overview': 'Overview · Sluice',
    };
    await visit('#/usage');
    for (const [hash, title] of Object.entries(titles)) {
      await page.goto(`${api.url}/${hash}`);
      await until(async () => (await page.title()) === title);
    }
  });

  it('with JSON on indented lines, whose values are as they were sent', async () => {
    const { page } = visitor;
    const text = '{"id":12345678901234567890,"a":[1.50,true,null,{}],"a":"say \\"{,}\\""}';
    await visit(`#/messages/${await send(text)}`);
    const body = page.getByLabel('The text of the message');
    await body.locator('.json-name').first().waitFor();
    expect(await body.textContent()).toBe(
      '{\n  "id": 12345678901234567890,\n  "a": [\n    1.50,\n    true,\n    null,\n    {}\n  ],\n  "a": "say \\"{,}\\""\n}',
    );
    await visitor.expectGoodLooks('portal-message-json');
    await visitor.button('As sent').click();
    expect(await body.textContent()).toBe(text);
    expect(pageOf(await api.ask(account, 'GET /messages')).data).toHaveLength(1);
  });
});
