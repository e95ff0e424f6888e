import { accountForEach, sharedApi } from '../support/api.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';

describeUnless(missing)('In the portal, many messages', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const visitor = Visitor.forEach();
  const visit = (hash: string) => visitor.visit(api.url, account.key, hash);
  const sent = async (message: string, status: string, type?: string) => {
    const { id } = await api.sent(account, { body: { message, type } });
    if (status !== 'queued') await api.become(id, status);
    return id;
  };
  const statusOf = async (id: string) => (await api.ask(account, `GET /messages/${id}`)).body.status;
  const dialog = () => visitor.page.getByRole('dialog');
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click();
  const selectAllThatMatch = async () => {
    await visitor.page.getByLabel('Select all that are shown').check();
    await visitor.button('Select all that match').click();
    await visitor.page.getByText('All that match are selected').waitFor();
  };
  const manyQueued = (type: string) =>
    api.sendBatch(account, {
      body: { messages: Array.from({ length: 101 }, (_, index) => ({ message: `number ${index}`, type })) },
    });

  it('are selected by the keyboard and retried; the one that could not be is named', async () => {
    visitor.expects('409');
    const { page } = visitor;
    const failed = await sent('apples', 'failed');
    const overtaken = await sent('pears', 'failed');
    await sent('plums', 'delivered');
    await visit('#/messages');
    await page.getByText('apples').waitFor();
    await page.getByLabel('Select all that are shown').focus();
    await page.keyboard.press('Space');
    await page.getByText('3 messages selected').waitFor();
    await visitor.expectGoodLooks('portal-selected');
    await visitor.button('Retry').focus();
    await page.keyboard.press('Enter');
    await dialog().getByText('2 failed messages of 3 that are selected.').waitFor();
    await visitor.expectGoodLooks('portal-retry-many');
    await api.become(overtaken, 'delivered');
    await confirm('Retry');
    await dialog().getByText('1 message is queued again.').waitFor();
    await dialog().getByText('1 message could not be changed:').waitFor();
    await dialog().getByRole('link', { name: 'pears' }).waitFor();
    await visitor.expectGoodLooks('portal-retried-many');
    expect([await statusOf(failed), await statusOf(overtaken)]).toEqual(['queued', 'delivered']);
    await confirm('Done');
    await page.getByText('3 messages selected').waitFor({ state: 'detached' });
  });

  it('are cancelled: all that match, of whatever page', async () => {
    const { page } = visitor;
    await manyQueued('order.paid');
    const other = await sent('another', 'queued', 'user.created');
    await visit('#/messages?type=order.*');
    await page.getByText('number 100').waitFor();
    await selectAllThatMatch();
    await visitor.button('Cancel').click();
    await dialog().getByText('101 queued messages.').waitFor();
    await confirm('Cancel them');
    await dialog().getByText('101 messages are cancelled.').waitFor();
    await confirm('Done');
    const { data } = (await api.ask(account, 'GET /messages?type=order.*&status=queued')).body;
    expect(data).toEqual([]);
    expect(await statusOf(other)).toBe('queued');
  });

  it('are retried: all of a type, by one request', async () => {
    const { page } = visitor;
    const other = await sent('another', 'failed', 'user.created');
    await manyQueued('order.paid');
    await api.sql(`UPDATE sluice.messages SET status = 'failed', available_at = NULL WHERE account_id = $1`, [
      account.id,
    ]);
    await visit('#/messages?status=failed&type=order.*');
    await page.getByText('number 100').waitFor();
    await selectAllThatMatch();
    await visitor.button('Retry').click();
    await dialog().getByText('101 failed messages.').waitFor();
    let requests = 0;
    page.on('request', (request) => {
      if (request.url().includes('/retry')) requests++;
    });
    await confirm('Retry');
    await dialog().getByText('101 messages are queued again.').waitFor();
    expect(requests).toBe(1);
    expect(await statusOf(other)).toBe('failed');
  });

  it('go on when requests are admitted again', async () => {
    visitor.expects('429');
    const { page } = visitor;
    await sent('apples', 'failed');
    await visit('#/messages?status=failed');
    await page.getByLabel('Select apples').check();
    await visitor.button('Retry').click();
    const body = JSON.stringify({ code: 'rate_limit_exceeded', detail: 'The requests are used up.' });
    await page.route('**/retry', (route) => route.fulfill({ status: 429, headers: { 'retry-after': '4' }, body }), {
      times: 1,
    });
    await confirm('Retry');
    await dialog().getByText('Goes on at').waitFor();
    await dialog().getByText('1 message is queued again.').waitFor();
  });

  it('are left as they are when the dialog is closed, and the rest goes on where an error has ended it', async () => {
    visitor.expects('500');
    const { page } = visitor;
    const ids = [await sent('apples', 'failed'), await sent('pears', 'failed')];
    await visit('#/messages?status=failed');
    await page.getByText('apples').waitFor();
    await page.getByLabel('Select all that are shown').check();
    await visitor.button('Retry').click();
    await confirm('Leave them');
    expect(await Promise.all(ids.map(statusOf))).toEqual(['failed', 'failed']);
    await page.getByLabel('Select all that are shown').check();
    await visitor.button('Retry').click();
    await page.route(`**/${ids[0] ?? ''}/retry`, (route) => route.fulfill({ status: 500, body: '' }), { times: 1 });
    await confirm('Retry');
    await dialog().getByText('1 of 2').waitFor();
    await confirm('Go on');
    await dialog().getByText('2 messages are queued again.').waitFor();
    expect(await Promise.all(ids.map(statusOf))).toEqual(['queued', 'queued']);
  });

  it('are left as they are when the dialog is closed while requests are refused', async () => {
    visitor.expects('429');
    const { page } = visitor;
    const id = await sent('apples', 'failed');
    await visit('#/messages?status=failed');
    await page.getByText('apples').waitFor();
    await page.getByLabel('Select apples').check();
    await visitor.button('Retry').click();
    const body = JSON.stringify({ code: 'rate_limit_exceeded', detail: 'The requests are used up.' });
    let tries = 0;
    await page.route('**/retry', (route) => {
      tries++;
      return route.fulfill({ status: 429, headers: { 'retry-after': '6' }, body });
    });
    await confirm('Retry');
    await dialog().getByText('Goes on at').waitFor();
    await confirm('Stop');
    await page.getByText('The rate limit is reached').waitFor({ state: 'detached' });
    expect(await statusOf(id)).toBe('failed');
    expect(tries).toBe(1);
  });

  it('cannot be changed by a key that only reads', async () => {
    const { page } = visitor;
    await sent('apples', 'failed');
    const { key } = await api.createKey(account, { scopes: ['messages:read'] });
    await visitor.visit(api.url, key, '#/messages');
    await page.getByText('apples').waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
  });
});
