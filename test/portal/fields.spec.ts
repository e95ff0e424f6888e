import { Fleet } from '../support/fleet.js';
import { describeUnless } from '../support/skipping.js';
import type { Account } from '../support/api.js';
import { missing, Visitor } from './visitor.js';

describeUnless(missing)('In the portal, the type, the ordering key and the metadata of messages', () => {
  let fleet: Fleet;
  let account: Account;
  const visitor = Visitor.forEach();
  const visit = (hash: string) => visitor.visit(fleet.client.url, account.key, hash);
  const send = async (fields: object) =>
    (await fleet.client.sent(account, { body: { message: 'hello', ...fields } })).id;

  beforeAll(async () => {
    fleet = await Fleet.start();
  });
  afterAll(() => fleet.stop());
  beforeEach(async () => {
    account = await fleet.client.signUp();
  });

  it('are sent by the keyboard alone, and shown where the message is', async () => {
    const { page } = visitor;
    await visit('#/send');
    await page.getByLabel('Type (optional)').focus();
    await page.keyboard.type('order.paid');
    await page.keyboard.press('Tab');
    await page.keyboard.type('customer-17');
    await page.keyboard.press('Tab');
    for (const [name, value] of [
      ['region', 'eu'],
      ['__proto__', 'data'],
    ] as const) {
      await page.keyboard.press('Enter');
      await page.locator('.pair').last().getByPlaceholder('Name').and(page.locator(':focus')).waitFor();
      await page.keyboard.type(name);
      await page.keyboard.press('Tab');
      await page.keyboard.type(value);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
    }
    await visitor.expectGoodLooks('portal-send-fields');
    await visitor.button('Send the message').click();
    await page.getByText('order.paid · customer-17 · ').waitFor();
    const { data } = (await fleet.client.ask(account, 'GET /messages')).body as { data: Record<string, unknown>[] };
    expect(data[0]).toMatchObject({ type: 'order.paid', orderingKey: 'customer-17' });
    expect(Object.entries(data[0]?.metadata as object).sort()).toEqual([
      ['__proto__', 'data'],
      ['region', 'eu'],
    ]);

    await page.getByRole('link', { name: 'Open' }).click();
    const metadata = page.getByRole('region', { name: 'Metadata' });
    for (const text of ['region', 'eu', '__proto__', 'data']) await metadata.getByText(text, { exact: true }).waitFor();
    await page.getByText('customer-17').waitFor();
    await visitor.expectGoodLooks('portal-message-fields');
    await page.getByRole('link', { name: 'order.paid' }).click();
    await page.getByText('Newest first').waitFor();
    expect(page.url()).toContain('#/messages?type=order.paid');
    await page.getByText('order.paid · customer-17').waitFor();
  });

  it('are not sent while names are missing or repeated, and what the server refuses is said at its field', async () => {
    const { page } = visitor;
    visitor.expects('400');
    await visit('#/send');
    for (const index of [0, 1]) {
      await visitor.button('Add a value').click();
      await page.getByPlaceholder('Name').nth(index).fill('region');
    }
    await page.getByText('The names must be different.').waitFor();
    expect(await visitor.button('Send the message').getAttribute('aria-disabled')).toBe('true');
    await page.getByPlaceholder('Name').last().fill('');
    await page.getByPlaceholder('Value').last().fill('x');
    await page.getByText('Each value needs a name.').waitFor();
    await visitor.button('Remove value 2').click();
    await visitor.button('Add a value').and(page.locator(':focus')).waitFor();
    await page.getByLabel('Type (optional)').fill('sluice.message.failed');
    await page.getByLabel('Ordering key (optional)').fill('a b');
    await page.getByPlaceholder('Value').fill('x'.repeat(501));
    await visitor.button('Send the message').click();
    for (const text of ['type must not begin with sluice', 'visible ASCII characters', 'at most 500 characters']) {
      await page.getByText(text).waitFor();
    }
    expect((await fleet.client.stored(account))?.messages).toBe(0);
  });

  it('of others can hide nothing, and fit whatever their length', async () => {
    const { page } = visitor;
    const hostile = '<b>x</b> \u202eevil\u0007';
    const long = 'x'.repeat(128);
    const id = await send({
      type: long,
      orderingKey: long,
      metadata: { [hostile]: hostile, ['n'.repeat(40)]: 'v'.repeat(500), empty: '' },
    });
    await visit('#/messages');
    await page.getByText(long.slice(0, 60)).waitFor();
    await visitor.expectGoodLooks('portal-messages-hostile');
    await visit(`#/messages/${id}`);
    await page.reload();
    await page.getByText('<b>x</b> ⟨U+202E⟩evil⟨U+0007⟩').first().waitFor();
    await page.getByText('(empty)').waitFor();
    await visitor.expectGoodLooks('portal-message-hostile');
  });

  it('filter the list by the address, which Back and new messages respect', async () => {
    const { page } = visitor;
    await send({ type: 'order.paid', message: 'first order' });
    await send({ type: 'user.created', message: 'a user' });
    await visit('#/messages?status=queued&type=order.*');
    await page.getByText('first order').waitFor();
    expect(await page.getByText('a user').count()).toBe(0);
    expect(await page.getByLabel('Type', { exact: true }).inputValue()).toBe('order.*');
    await page.getByText('Live', { exact: true }).waitFor();
    await send({ type: 'user.deleted', message: 'another user' });
    await send({ type: 'order.sent', message: 'second order' });
    await page.getByText('second order').waitFor();
    expect(await page.getByText('another user').count()).toBe(0);

    await page.getByLabel('Type', { exact: true }).fill('user.created');
    await page.keyboard.press('Enter');
    await page.getByText('a user').waitFor();
    expect(page.url()).toContain('#/messages?status=queued&type=user.created');
    await page.getByRole('link', { name: 'failed' }).click();
    await page.getByText('No messages of type user.created are failed').waitFor();
    await page.goBack();
    await page.goBack();
    await page.getByText('second order').waitFor();
    await page.getByRole('link', { name: 'Clear' }).click();
    await page.getByText('another user').waitFor();
  });

  it('that no filter can have are said to be wrong', async () => {
    const { page } = visitor;
    visitor.expects('400');
    await visit('#/messages?type=order*');
    await page.getByText('type must be a type').waitFor();
    await page.goto(`${fleet.client.url}/#/messages?status=FAILED`);
    await page.getByText('status must be one of').waitFor();
    await page.getByRole('link', { name: 'all', exact: true }).click();
    await page.getByText('status must be one of').waitFor({ state: 'detached' });
  });
});
