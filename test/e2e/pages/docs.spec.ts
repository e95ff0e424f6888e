import type { Browser, Page } from 'playwright-core';
import { accountOf, ownApi } from '../../support/api.js';
import { CHROMIUM, startBrowser } from '../../support/browser.js';
import { describeUnless } from '../../support/skipping.js';

const DEADLINE = 60_000;

const missing = CHROMIUM === undefined ? 'no Chromium to open /docs with; CHROMIUM_PATH may name one.' : null;

describeUnless(missing)('The page /docs, in a browser', () => {
  const api = ownApi({ ADMIN_API_KEY: '' });
  const account = accountOf(api);
  let browser: Browser;
  let page: Page;
  /** What the browser complains of, and what it asks of anybody else. */
  let complaints: string[];

  beforeAll(async () => {
    browser = await startBrowser();
  }, DEADLINE);
  afterAll(() => browser.close());
  beforeEach(async () => {
    complaints = [];
    page = await browser.newPage();
    page.setDefaultTimeout(DEADLINE);
    page.on('console', (line) => {
      if (['error', 'warning'].includes(line.type())) complaints.push(`${line.type()}: ${line.text()}`);
    });
    page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`));
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== api.url) {
        complaints.push(`request to ${request.url()}`);
      }
    });
    // In the browser's words, because the tests are compiled without its types.
    await page.addInitScript(`document.addEventListener('securitypolicyviolation', (violation) => {
      console.error('violates', violation.violatedDirective, violation.blockedURI, violation.sourceFile);
    });`);
  });
  afterEach(() => page.close());

  it(
    'sends a message with the key that is typed in',
    async () => {
      await page.goto(`${api.url}/docs`);
      await page.getByRole('button', { name: 'Authorize' }).first().click();
      await page.getByLabel('auth-bearer-value').first().fill(account.key);
      await page.getByRole('button', { name: 'Apply credentials' }).first().click();
      await page.getByRole('button', { name: 'Close', exact: true }).click();

      const send = page.locator('#operations-Messages-sendMessage');
      await send.locator('.opblock-summary-control').click();
      const answered = page.waitForResponse((response) => new URL(response.url()).pathname === '/messages');
      await send.getByRole('button', { name: 'Execute' }).click();
      expect((await answered).status()).toBe(202);

      const shown = send.locator('.live-responses-table .response .response-col_status').first();
      await shown.getByText('202').waitFor();
      expect(await send.locator('.live-responses-table').innerText()).toContain('"status": "queued"');
      expect(await api.stored(account)).toEqual({ messages: 1, keys: 0 });
      expect(complaints).toEqual([]);
    },
    DEADLINE,
  );

  it(
    'shows every operation',
    async () => {
      await page.goto(`${api.url}/docs`);
      await page.locator('.opblock').first().waitFor();
      const blocks = await page.locator('.opblock').all();
      const ids = (await Promise.all(blocks.map((block) => block.getAttribute('id')))).map((id) =>
        id?.split('-').at(-1),
      );
      const { paths } = JSON.parse((await api.ask(null, 'GET /openapi.json')).bytes.toString()) as {
        paths: Record<string, Record<string, { operationId: string }>>;
      };
      const documented = Object.values(paths).flatMap((path) =>
        Object.values(path).map(({ operationId }) => operationId),
      );
      expect(ids.toSorted()).toEqual(documented.toSorted());
      expect(complaints).toEqual([]);
    },
    DEADLINE,
  );

  it.each(['/errors', '/errors/validation_failed'])('like %s, loads all it needs from here', async (path) => {
    await page.goto(api.url + path);
    expect(await page.locator('h1').count()).toBe(1);
    expect(await page.evaluate('getComputedStyle(document.body).fontFamily')).toContain('system-ui');
    expect(complaints).toEqual([]);
  });
});
