import type { Page } from 'playwright-core';
import { accountForEach, OPERATOR, sharedApi, type Account } from '../support/api.js';
import { until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';

/** What a test waits for. */
class Moment {
  come!: () => void;
  readonly awaited = new Promise<void>((resolve) => (this.come = resolve));
}

describeUnless(missing)('In the portal, a response that is overtaken', () => {
  const api = sharedApi();
  const account = accountForEach(api);
  const visitor = Visitor.forEach();
  const dialog = () => visitor.page.getByRole('dialog');

  async function signIn({ key, id }: Account): Promise<void> {
    const { page } = visitor;
    await page.getByLabel('API key', { exact: true }).fill(key);
    await visitor.button('Sign in').click();
    await visitor.button('Sign out').waitFor();
    await page.goto(`${api.url}/#/settings`);
    await page.getByText(id).waitFor();
  }

  /**
   * Holds back the response to the next request like `PATCH /account`, whose body contains a text.
   * @param instead takes its place
   * @returns waits for the request; lets its response go, and waits for what follows
   */
  async function holdBack(request: string, text = '', instead: { status: number; body: string } | null = null) {
    const { page } = visitor;
    const [method, path = ''] = request.split(' ');
    const [asked, left, followed] = [new Moment(), new Moment(), new Moment()];
    let isHeld = false;
    await page.route(
      ({ pathname }) => pathname.startsWith(path),
      async (route) => {
        const sent = route.request();
        if (isHeld || sent.method() !== method || !(sent.postData() ?? '').includes(text)) return route.fallback();
        isHeld = true;
        const response = instead ?? { response: await route.fetch() };
        asked.come();
        await left.awaited;
        await route.fulfill(response);
        followed.come();
      },
    );
    return {
      asked: asked.awaited,
      release: async () => {
        left.come();
        await followed.awaited;
        // What follows a response, follows within a few frames.
        await page.waitForTimeout(300);
      },
    };
  }

  describe('by another sign-in changes nothing there:', () => {
    const keyIn = (page: Page) => page.evaluate(`sessionStorage.getItem('sluice.key')`);
    const ownKey = () => visitor.page.locator('.row', { hasText: 'this key' });

    it.each<[string, string, () => Promise<void>, object | null]>([
      [
        'a key that has replaced the own one',
        'POST /api-keys',
        async () => {
          await visitor.page.goto(`${api.url}/#/keys`);
          await ownKey()
            .getByRole('button', { name: /^Rotate/ })
            .click();
          await visitor.button('Rotate the key').click();
        },
        null,
      ],
      [
        'the own key that was revoked',
        'DELETE /api-keys',
        async () => {
          await visitor.page.goto(`${api.url}/#/keys`);
          await ownKey()
            .getByRole('button', { name: /^Revoke/ })
            .click();
          await visitor.button('Revoke the key').click();
        },
        null,
      ],
      [
        'a message',
        'POST /messages',
        async () => {
          await visitor.page.goto(`${api.url}/#/send`);
          await visitor.page.getByLabel('Message', { exact: true }).fill('nothing of yours');
          await visitor.button('Send the message').click();
        },
        null,
      ],
      [
        'a cancellation of all that match, which goes on',
        'POST /messages/cancel',
        async () => {
          await api.sendBatch(account, { messages: Array.from({ length: 101 }, () => 'mine') });
          await visitor.page.goto(`${api.url}/#/messages?status=queued`);
          await visitor.page.getByLabel('Select all that are shown').check();
          await visitor.button('Select all that match').click();
          await visitor.button('Cancel').click();
          await visitor.button('Cancel them').click();
        },
        { count: 1_000_000 },
      ],
    ])('%s', async (_what, request, act, instead) => {
      const { page } = visitor;
      const next = await api.signUp();
      const { id } = await api.sent(next, { body: { message: 'theirs', deliverAt: new Date(Date.now() + 3_600_000) } });
      await page.goto(`${api.url}/#/sign-in`);
      await signIn(account);
      const held = await holdBack(
        request,
        '',
        instead === null ? null : { status: 200, body: JSON.stringify(instead) },
      );
      await act();
      await held.asked;
      await page.keyboard.press('Escape');
      await visitor.button('Sign out').click();
      await signIn(next);
      const other = await page.context().newPage();
      await other.goto(`${api.url}/#/send`);
      await other.getByText('Send a message, and watch').waitFor();
      await held.release();
      expect([await keyIn(page), await keyIn(other)]).toEqual([next.key, next.key]);
      expect(await dialog().count()).toBe(0);
      await page.goto(`${api.url}/#/send`);
      await page.getByText('Send a message, and watch').waitFor();
      expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('Hello, Sluice');
      expect((await api.ask(next, `GET /messages/${id}`)).body.status).toBe('queued');
    });
  });

  it('by a closed dialog is followed by no further request', async () => {
    const { page } = visitor;
    await api.sendBatch(account, { messages: Array.from({ length: 101 }, () => 'mine') });
    await visitor.visit(api.url, account.key, '#/messages?status=queued');
    await page.getByLabel('Select all that are shown').check();
    await visitor.button('Select all that match').click();
    await visitor.button('Cancel').click();
    const held = await holdBack('POST /messages/cancel', '', { status: 200, body: '{"count":1000000}' });
    await visitor.button('Cancel them').click();
    await held.asked;
    await visitor.button('Stop').click();
    await held.release();
    expect((await api.ask(account, 'GET /messages?status=cancelled')).body.data).toEqual([]);
  });

  it('by that of another key is shown as well, and both have to be stored', async () => {
    const { page } = visitor;
    await visitor.visit(api.url, account.key, '#/keys');
    const create = async (name: string) => {
      await visitor.button('Create a key').click();
      await dialog().getByLabel('Name').fill(name);
      await page.getByLabel('Send, cancel and retry messages').check();
      await page.keyboard.press('Enter');
    };
    const shown = () => dialog().getByLabel('API key', { exact: true }).innerText();
    const held = await holdBack('POST /api-keys', 'slow');
    await create('slow');
    await held.asked;
    await page.keyboard.press('Escape');
    await create('fast');
    const first = await shown();
    await held.release();
    expect(await shown()).toBe(first);
    await visitor.storeSecret();
    await until(async () => (await shown()) !== first);
    expect(await Promise.all([first, await shown()].map((key) => api.knows(key)))).toEqual([true, true]);
    await visitor.storeSecret();
    await dialog().waitFor({ state: 'detached' });
  });

  it('by that of another change takes nothing back', async () => {
    const { page } = visitor;
    await visitor.visit(api.url, account.key, '#/settings');
    await page.getByText(account.id).waitFor();
    const renaming = await holdBack('PATCH /account', 'name');
    await page.getByLabel('Name').fill('Renamed');
    await visitor.button('Rename').click();
    await renaming.asked;
    await page.getByRole('switch').click();
    await page.getByText('Messages are accepted, and wait').waitFor();
    await renaming.release();
    await page.locator('.account-name', { hasText: 'Renamed' }).waitFor();
    expect(await page.getByRole('switch').isChecked()).toBe(true);
  });

  it('by the suspension of an account does not hide it', async () => {
    const { page } = visitor;
    await page.addInitScript(`sessionStorage.setItem('sluice.operators-key', ${JSON.stringify(OPERATOR.key)})`);
    await page.goto(`${api.managementUrl}/#/accounts/${account.id}`);
    const naming = await holdBack('PATCH /admin/accounts', 'externalId');
    await page.getByLabel('External id').fill(account.id);
    await visitor.button('Save the name').click();
    await naming.asked;
    await visitor.button('Suspend').click();
    await visitor.button('Suspend the account').click();
    await visitor.button('Resume').waitFor();
    await naming.release();
    await page.locator('dd', { hasText: account.id }).nth(1).waitFor();
    await visitor.button('Resume').waitFor();
  });
});
