import type { Browser, Page } from 'playwright-core';
import { accountOf, sharedApi } from '../../support/api.js';
import { CHROMIUM, startBrowser } from '../../support/browser.js';
import { OPERATIONS, WEBHOOKS } from '../../support/documented.js';
import { describeUnless } from '../../support/skipping.js';

const missing = CHROMIUM === undefined ? 'no Chromium to open /docs with; CHROMIUM_PATH may name one.' : null;

describeUnless(missing)('In a browser', () => {
  const api = sharedApi();
  const account = accountOf(api);
  let browser: Browser;
  let page: Page;
  /** Errors and warnings of the browser, and requests to other servers. */
  let complaints: string[];

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    complaints = [];
    page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    page.on('console', (line) => {
      if (['error', 'warning'].includes(line.type())) complaints.push(`${line.type()}: ${line.text()}`);
    });
    page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (!['data:', 'blob:'].includes(protocol) && origin !== api.url) complaints.push(`request to ${request.url()}`);
    });
    // As text, because the tests are compiled without the types of browsers.
    await page.addInitScript(`document.addEventListener('securitypolicyviolation', (violation) => {
      console.error('violates', violation.violatedDirective, violation.blockedURI, violation.sourceFile);
    });`);
  });
  afterEach(async () => {
    await page.close();
    expect(complaints).toEqual([]);
  });

  it('/docs sends a message with the API key that the user enters', async () => {
    await page.goto(`${api.url}/docs`);
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    // As it may have been copied from a header.
    await page.getByLabel('auth-bearer-value').first().fill(`Bearer ${account.key}`);
    await page.getByRole('button', { name: 'Apply credentials' }).first().click();
    await page.getByRole('button', { name: 'Close', exact: true }).first().click();

    const send = page.locator('#operations-Messages-sendMessage');
    await send.locator('.opblock-summary-control').click();
    const response = page.waitForResponse((sent) => new URL(sent.url()).pathname === '/messages');
    await send.getByRole('button', { name: 'Execute' }).click();
    expect((await response).status()).toBe(202);

    const shown = send.locator('.live-responses-table');
    await shown.locator('.response .response-col_status').first().getByText('202').waitFor();
    expect(await shown.innerText()).toContain('"status": "queued"');
    expect(await api.stored(account)).toEqual({ messages: 1, keys: 0 });
  });

  it('/docs shows every operation, and the requests that Sluice sends', async () => {
    await page.goto(`${api.url}/docs`);
    const documented = [...OPERATIONS, ...WEBHOOKS].map(({ operationId }) => operationId);
    await page
      .locator('.opblock')
      .nth(documented.length - 1)
      .waitFor();
    const blocks = await page.locator('.opblock').all();
    const ids = await Promise.all(blocks.map((block) => block.getAttribute('id')));
    expect(ids.map((id) => id?.split('-').at(-1)).toSorted()).toEqual(documented.toSorted());
  });

  it('/docs shows the headers of every response once', async () => {
    await page.goto(`${api.url}/docs#/Messages/sendMessage`);
    await page.getByText('X-RateLimit-Reset', { exact: true }).first().waitFor({ state: 'attached' });
    await page.locator('.responses-table').getByText('Retry-After', { exact: true }).nth(1).waitFor();
    expect(await page.getByText('X-RateLimit-Reset', { exact: true }).count()).toBe(1);
    expect(await page.locator('.responses-table').getByText('Retry-After', { exact: true }).count()).toBe(2);
  });

  it.each([
    ['/errors', 'table'],
    ['/errors/validation_failed', 'pre'],
    ['/docs#/Messages/sendMessage', '.responses-table'],
  ])('%s fits a phone of 390 pixels', async (path, content) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(api.url + path);
    await page.locator(content).first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });

  it.each(['/errors', '/errors/validation_failed'])('%s is shown with its styles', async (path) => {
    await page.goto(api.url + path);
    expect(await page.locator('h1').count()).toBe(1);
    expect(await page.evaluate('getComputedStyle(document.body).fontFamily')).toContain('system-ui');
  });
});
