import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { accountForEach, expectProblem, OPERATOR, ownApi, sharedApi } from '../support/api.js';
import { ROOT } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { missing, Visitor } from './visitor.js';

const MAX_GZIPPED_BYTES = 120 * 1_024;
const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const FOLDER = join(ROOT, 'dist', 'portal', 'assets', 'portal');

describe('The files of the portal', () => {
  const api = sharedApi();
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${api.url}${path}`, { headers });

  it.each([[BROWSER], [{ accept: '*/*' }], [{ accept: 'text/*, application/json' }], [{}]])(
    'are a page for everybody who accepts one: %j',
    async (headers: Record<string, string>) => {
      const { status, headers: responded } = await get('/', headers);
      expect([status, responded.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    },
  );

  it('load nothing inline and nothing from elsewhere, and are cached by their hash', async () => {
    const page = await get('/', BROWSER);
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    const html = await page.text();
    expect(html).not.toMatch(/<script(?![^>]+src=)|<style|style=| on\w+=/);
    const files = [...html.matchAll(/(?:src|href)="(\/assets[^"]+)"/g)].map(([, path = '']) => path);
    expect(files.length).toBeGreaterThan(2);
    for (const path of files) {
      const { status, headers } = await get(path);
      expect([path, status, headers.get('cache-control')]).toEqual([path, 200, 'public, max-age=31536000, immutable']);
    }
  });

  it.each([
    ['gzip, br', 'gzip'],
    ['br;q=1, gzip;q=0.5', 'gzip'],
    ['identity, gzip;q=0', null],
    ['identity', null],
  ])('are sent to clients that accept %s with the encoding %s', async (accepted, encoding) => {
    const [name = ''] = readdirSync(FOLDER).filter((file) => /^index.*\.js$/.test(file));
    const response = await get(`/assets/portal/${name}`, { 'accept-encoding': accepted });
    expect(response.headers.get('content-encoding')).toBe(encoding);
    expect(await response.text()).toBe(readFileSync(join(FOLDER, name), 'utf8'));
  });

  it.each(['index', 'operators'])('are small: %s.html', (page) => {
    const html = readFileSync(join(ROOT, 'dist', 'portal', `${page}.html`), 'utf8');
    const sizes = readdirSync(FOLDER)
      .filter((file) => html.includes(file))
      .map((file) => gzipSync(readFileSync(join(FOLDER, file))).length);
    expect(sizes.length).toBeGreaterThan(2);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(MAX_GZIPPED_BYTES);
  });

  it.each(['index.html', '..%2findex.html', 'unknown.js', 'constructor', ''])('do not include %s', async (name) => {
    expectProblem(await api.ask(null, `GET /assets/portal/${name}`), 404, 'not_found');
  });
});

describe('With PORTAL_FRAME_ANCESTORS', () => {
  const api = ownApi({ PORTAL_FRAME_ANCESTORS: 'https://app.example.com, https://a.example.org' });

  it('the portal may be embedded by these origins, and no other page by any', async () => {
    const policies = await Promise.all(
      ['/', '/docs'].map(async (path) => {
        const { headers } = await fetch(api.url + path, { headers: BROWSER });
        const policy = headers.get('content-security-policy') ?? '';
        return [/frame-ancestors [^;]*/.exec(policy)?.[0], headers.get('x-frame-options')];
      }),
    );
    expect(policies).toEqual([
      ['frame-ancestors https://app.example.com https://a.example.org', null],
      ["frame-ancestors 'none'", 'DENY'],
    ]);
  });

  describeUnless(missing)('a page', () => {
    const account = accountForEach(api);
    const visitor = Visitor.forEach();
    /** The page of the documentation. */
    const [, html = ''] =
      /```html\n(.*?)```/s.exec(readFileSync(join(ROOT, 'docs', 'operating-accounts.md'), 'utf8')) ?? [];

    it.each([
      ['of one of them shows what its link allows, and copies', 'https://app.example.com', true],
      ['of another origin shows nothing', 'https://evil.example.com', false],
    ])('%s', async (_, origin, isShown) => {
      const { page } = visitor;
      if (!isShown) visitor.expects('frame-ancestors');
      const path = `POST /admin/accounts/${account.id}/portal-links`;
      const { url } = (await api.ask(OPERATOR, path, { scopes: ['messages:read'] })).body;
      await api.sent(account, { body: { message: 'framed' } });
      const body = html.replace(/src="[^"]+"/, `src="${String(url)}"`);
      await page.route(`${origin}/`, (route) => route.fulfill({ contentType: 'text/html', body }));
      // A page of the internet needs it for what runs on the visitor's machine, as the API does here.
      await page.context().grantPermissions(['local-network-access', 'clipboard-read', 'clipboard-write']);
      await page.goto(`${origin}/`);
      const frame = page.frameLocator('iframe');
      const heading = frame.getByRole('heading', { name: 'Messages' });
      if (!isShown) {
        expect(await heading.count()).toBe(0);
        return;
      }
      await heading.waitFor();
      await frame.getByText('framed').click();
      await frame.getByRole('button', { name: 'Copy the id of the message' }).click();
      await frame.getByText('The id of the message is copied.').waitFor();
    });
  });
});

describe('With PORTAL=off', () => {
  const api = ownApi({ PORTAL: 'off' });

  it('browsers get 404 like programs', async () => {
    expect((await fetch(api.url, { headers: BROWSER })).status).toBe(404);
  });
});

describeUnless(missing)('A visitor', () => {
  const api = sharedApi();
  const closed = ownApi({ SIGNUP: 'closed' });
  const visitor = Visitor.forEach();

  it('signs up, stores the key and sends a message', async () => {
    const { page } = visitor;
    await page.goto(api.url);
    await page.getByLabel('Name of the account').fill('Acme');
    await visitor.button('Create the account').click();
    const key = await page.getByLabel('API key', { exact: true }).innerText();
    expect(key).toMatch(/^slc_/);
    await visitor.storeSecret();
    expect(await page.content()).not.toContain(key);
    await visitor.button('Send the message').click();
    await page.locator('.steps').getByText('queued').waitFor();
    expect(page.url()).not.toContain('slc_');
    expect(await page.content()).not.toContain(key);
    expect(await page.context().cookies()).toEqual([]);
  });

  it('sees the text of a message unchanged, and the available actions', async () => {
    const account = await api.signUp();
    const reader = await api.createKey(account, { scopes: ['messages:read'] });
    const { page } = visitor;
    const message = '<b onmouseover="alert(1)">bold</b>';
    const sent = { queued: '', processing: '', delivered: '', failed: '', cancelled: '' };
    for (const status of Object.keys(sent) as (keyof typeof sent)[]) {
      sent[status] = (await api.sent(account, { message })).id;
      if (status !== 'queued') await api.become(sent[status], status);
    }
    const actions = async (id: string) => {
      await page.goto(`${api.url}/#/messages/${id}`);
      await page.getByText(id).waitFor();
      const buttons = await Promise.all(
        ['Cancel the message', 'Retry'].map(async (name) => ((await visitor.button(name).count()) > 0 ? name : '')),
      );
      return buttons.join('');
    };
    await visitor.visit(api.url, account.key, `#/messages/${sent.queued}`);
    expect(await page.getByLabel('The text of the message').textContent()).toBe(message);
    const offered = { queued: 'Cancel the message', processing: '', delivered: '', failed: 'Retry', cancelled: '' };
    for (const status of Object.keys(sent) as (keyof typeof sent)[]) {
      expect([status, await actions(sent[status])]).toEqual([status, offered[status]]);
    }
    await page.evaluate(`sessionStorage.clear(); sessionStorage.setItem('sluice.key', ${JSON.stringify(reader.key)})`);
    await page.evaluate("sessionStorage.setItem('asked', 'yes')");
    await page.reload();
    for (const id of [sent.queued, sent.failed]) expect(await actions(id)).toBe('');
  });

  it.each([
    ['the portal', () => api.url, 'The portal could not be loaded.', 'Name of the account'],
    ['the page for operators', () => api.managementUrl, 'The page could not be loaded.', 'Operators’ key'],
  ])('is told to reload %s when its script does not load', async (_what, url, sentence, label) => {
    const { page } = visitor;
    visitor.expects('404');
    await page.route('**/*.js', (route) => route.fulfill({ status: 404, body: '' }));
    await page.goto(url());
    await page.getByText(sentence).waitFor();
    await page.unrouteAll();
    await page.reload();
    await page.getByLabel(label, { exact: true }).waitFor();
    expect(await page.getByText(sentence).count()).toBe(0);
  });

  it.each([
    [401, 'it may ask you to sign in'],
    [503, 'not from Sluice'],
  ])('stays signed in while a proxy responds with %i, and sees what it is afterwards', async (status, sentence) => {
    const { page } = visitor;
    visitor.expects(String(status));
    const account = await api.signUp();
    await page.route(/\/(account|messages|api-keys|events)\b/, (route) =>
      route.fulfill({ status, contentType: 'text/html', body: '<h1>nginx</h1>' }),
    );
    await visitor.visit(api.url, account.key, '#/usage');
    await page.getByText(sentence).waitFor();
    await page.getByText('Loaded as soon as Sluice can be reached.').first().waitFor();
    await page.unrouteAll();
    await page.getByRole('heading', { name: 'Requests in a minute' }).waitFor();
    await page.getByText('Sluice cannot be reached.').waitFor({ state: 'detached' });
  });

  it('prints a page in light colours, without what sticks to the screen', async () => {
    const { page } = visitor;
    await visitor.visit(api.url, (await api.signUp()).key, '#/usage');
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
    await page.evaluate(`document.documentElement.dataset.theme = 'dark'`);
    await page.emulateMedia({ media: 'print' });
    await page.getByRole('navigation', { name: 'Main', includeHidden: true }).waitFor({ state: 'hidden' });
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('light');
  });

  it('is not offered to sign up where sign-up is closed', async () => {
    const { page } = visitor;
    await page.goto(closed.url);
    await page.getByText('Sign-up is closed here').waitFor();
    expect(await visitor.button('Create the account').count()).toBe(0);
  });
});
