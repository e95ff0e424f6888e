import type { ServerResponse } from 'node:http';
import { Fleet } from '../support/fleet.js';
import { until } from '../support/processes.js';
import { Receiver } from '../support/receiver.js';
import { describeUnless } from '../support/skipping.js';
import type { Account } from '../support/api.js';
import { missing, Visitor } from './visitor.js';

/** Texts that turn the direction of others, and numbers whose unit, or times whose zone, is on the next line. */
const HIDDEN_OR_BROKEN = `(() => {
  const found = [];
  const attributes = [...document.querySelectorAll('[title], [aria-label]')].flatMap(({ title, ariaLabel }) => [title, ariaLabel]);
  for (const text of [document.title, document.body.innerText, ...attributes]) {
    if (/\\u202e/.test(text ?? '')) found.push('hidden: ' + text.slice(0, 80));
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text; (text = texts.nextNode()) !== null; ) {
    for (const { 0: number, index } of text.data.matchAll(/\\d:\\d\\d .+?UTC|\\d[\\d.,]*\\s(?:attempts?|messages?|[KMG]iB|bytes?|m?s|min|h)\\b/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + number.length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) found.push('broken: ' + number);
    }
  }
  return found;
})()`;

describeUnless(missing)('In the portal, what each endpoint got', () => {
  let fleet: Fleet;
  let receiver: Receiver;
  let account: Account;
  let message = '';
  const ids = { works: '', fails: '' };
  const visitor = Visitor.forEach();
  const visit = (hash: string) => visitor.visit(fleet.client.url, account.key, hash);
  const ask = (route: string, body?: object) => fleet.client.ask(account, route, body);

  beforeAll(async () => {
    fleet = await Fleet.start({ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_RETRY_SECONDS: '3600' });
    await fleet.worker();
    receiver = await Receiver.start();
    account = await fleet.client.signUp();
    await ask('PATCH /account', { delivery: 'webhooks' });
    const endpoint = async (path: string, status: 204 | 503, description: string) =>
      String((await ask('POST /endpoints', { url: receiver.url(path, status), description })).body.id);
    ids.works = await endpoint('/works', 204, 'orders of <b>Acme</b>');
    ids.fails = await endpoint('/fails', 503, '');
    message = (await fleet.client.sent(account, { message: 'hello' })).id;
    await until(async () => {
      const attempts = (await ask(`GET /messages/${message}/attempts`)).body.data as { outcome: string }[];
      return attempts.length === 2 && attempts.every(({ outcome }) => outcome !== 'running');
    }, 60_000);
  });
  afterAll(async () => {
    receiver.stop();
    await fleet.stop();
  });

  it('is shown with the message, by the names of the endpoints and with the time of the next attempt', async () => {
    const { page } = visitor;
    await visit(`#/messages/${message}`);
    const endpoints = page.getByRole('region', { name: 'Endpoints' });
    await endpoints.getByRole('link', { name: 'orders of <b>Acme</b>' }).waitFor();
    await endpoints.getByText('delivered').waitFor();
    const url = endpoints.getByRole('link', { name: '/fails' });
    await endpoints.getByText(/Failed, will retry at .*\d:\d\d/).waitFor();
    const attempts = page.getByRole('region', { name: 'Attempts' });
    const attemptsTo = (name: string) =>
      attempts.locator('.target', { has: page.getByRole('heading', { name: `To ${name}` }) });
    await attemptsTo(receiver.url('/fails', 503))
      .getByText(/Failed, will retry at .*\d:\d\d/)
      .waitFor();
    await attemptsTo('orders of <b>Acme</b>').getByText('delivered').waitFor();
    expect(await attemptsTo('orders of <b>Acme</b>').getByText('status 503').count()).toBe(0);
    expect(await attempts.getByText('retried').count()).toBe(0);
    await visitor.expectGoodLooks('portal-message-endpoints');
    await url.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Recent deliveries' }).getByText('status 503').waitFor();
  });

  it('is listed with the endpoint, by status, with its rate of success', async () => {
    const { page } = visitor;
    await visit(`#/endpoints/${ids.works}`);
    const recent = page.getByRole('region', { name: 'Recent deliveries' });
    await recent.getByText('1 of 1 that have ended succeeded (100%)').waitFor();
    await recent.getByText(/^1\sattempt · status 204 · \d+\sms · /).waitFor();
    await page.keyboard.press('j');
    await recent.getByRole('link', { name: message }).and(page.locator(':focus')).waitFor();
    await until(async () => (await page.title()) === 'orders of <b>Acme</b> · endpoint · Sluice');
    await visitor.expectGoodLooks('portal-endpoint-deliveries');
    await recent.getByLabel('Show').selectOption('Failed');
    await recent.getByText('None.').waitFor();
    await recent.getByLabel('Show').selectOption('Delivered');
    await recent.getByRole('link', { name: message }).click();
    await page.getByText('The text of the message').or(page.getByText('hello')).first().waitFor();
  });

  it.each([
    ['works', 'succeeded', 'It answered with status 204'],
    ['fails', 'failed', 'It answered with status 503'],
  ] as const)('of a test that %s is marked as %s', async (which, badge, text) => {
    const { page } = visitor;
    await visit(`#/endpoints/${ids[which]}`);
    await visitor.button('Send a test').click();
    const test = page.getByRole('region', { name: 'Test' });
    await test.getByText(text).waitFor();
    const tone = badge === 'failed' ? 'bad' : 'good';
    await test.locator(`.badge.${tone}`, { hasText: badge }).waitFor();
  });

  it('and all other texts of others hide nothing, and numbers stay with their units, on a phone', async () => {
    const { page } = visitor;
    await page.setViewportSize({ width: 390, height: 844 });
    const hidden = 'gnp\u202eexe';
    const other = await fleet.client.signUp();
    const own = (route: string, body?: object) => fleet.client.ask(other, route, body);
    await own('PATCH /account', { name: hidden, delivery: 'webhooks' });
    const behaviour = (response: ServerResponse) => response.writeHead(503).end(hidden);
    const endpoint = { url: receiver.url('/hidden', behaviour), description: hidden };
    const id = String((await own('POST /endpoints', endpoint)).body.id);
    await fleet.client.createKey(other, { name: hidden });
    const sent = await fleet.client.sent(other, { message: hidden });
    await until(async () => ((await own(`GET /messages/${sent.id}`)).body.attempts as number) > 0);
    const deliverAt = new Date(Date.now() + 25 * 86_400_000).toISOString();
    await fleet.client.sent(other, { body: { message: 'later', deliverAt } });
    await visitor.visit(fleet.client.url, other.key);
    for (const [hash, shown] of [
      ['overview', 'Endpoints that fail'],
      ['send', 'Compose'],
      ['messages', 'later'],
      [`messages/${sent.id}`, 'status 503'],
      [`messages?endpointId=${id}`, 'later'],
      ['usage', 'Requests in 24 hours'],
      ['keys', 'first key'],
      ['endpoints', receiver.url('/hidden', behaviour)],
      [`endpoints/${id}`, 'status 503'],
      ['settings', 'Account id'],
    ] as const) {
      await page.goto(`${fleet.client.url}/#/${hash}`);
      await page.getByText(shown).first().waitFor();
      await until(async () => (await page.locator('.skeleton').count()) === 0);
      if (hash === `endpoints/${id}`) {
        await visitor.button('Send a test').click();
        await page.getByText('It answered with status 503').waitFor();
      }
      expect([hash, await page.evaluate(HIDDEN_OR_BROKEN)]).toEqual([hash, []]);
    }
  });

  it('changes with its URL, description and rate, which are edited by the keyboard', async () => {
    const { page } = visitor;
    visitor.expects('400');
    const { id } = (await ask('POST /endpoints', { url: receiver.url('/old', 204) })).body;
    const shown = async () => (await ask(`GET /endpoints/${String(id)}`)).body;
    await visit(`#/endpoints/${String(id)}`);
    await visitor.button('Edit').focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Edit the endpoint' });
    await dialog.getByLabel('URL').fill('https://user:secret@example.com/');
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').waitFor();
    expect((await shown()).url).toBe(receiver.url('/old', 204));
    await visitor.expectGoodLooks('portal-endpoint-edit');
    await dialog.getByLabel('URL').fill(receiver.url('/new', 204));
    await dialog.getByLabel('Description').fill('billing');
    await dialog.getByLabel('Requests per second').fill('7');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('at most 7 per second').waitFor();
    const changed = { url: receiver.url('/new', 204), description: 'billing', rateLimitPerSecond: 7 };
    expect(await shown()).toMatchObject(changed);
  });

  it.each([
    ['Stops at once', 1],
    ['Signs for another hour', 2],
  ] as const)('is signed with a new secret while the old one %s', async (choice, signatures) => {
    const { page } = visitor;
    const path = `/rotated-${signatures}`;
    const { id } = (await ask('POST /endpoints', { url: receiver.url(path, 204) })).body;
    await visit(`#/endpoints/${String(id)}`);
    await visitor.button('Rotate the secret').click();
    const dialog = page.getByRole('dialog', { name: 'Rotate the secret?' });
    await dialog.getByLabel('The old secret').selectOption(choice);
    await until(async () => (await dialog.getByText('will refuse every request').count()) === 2 - signatures);
    await dialog.getByRole('button', { name: 'Rotate the secret' }).click();
    await page.getByText('Verify signatures with it').click();
    await page.getByLabel('A function that verifies signatures').getByText('export function isGenuine').waitFor();
    await visitor.expectGoodLooks(`portal-secret-rotated-${signatures}`);
    await visitor.storeSecret();
    await visitor.button('Send a test').click();
    await page.getByText('It answered with status 204').waitFor();
    const [request] = receiver.at(path);
    expect(String(request?.headers['webhook-signature']).split(' ')).toHaveLength(signatures);
  });
});
