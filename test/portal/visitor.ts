import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { CHROMIUM, startBrowser } from '../support/browser.js';
import { until } from '../support/processes.js';

export const missing =
  CHROMIUM === undefined ? 'no Chromium to open the portal with; CHROMIUM_PATH may name one.' : null;

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const LOOKS = (['light', 'dark'] as const).flatMap((theme) => [1440, 390].map((width) => [theme, width] as const));
/** `npm run screenshots` names the folder to write to. */
const SCREENSHOTS = process.env.SLUICE_SCREENSHOTS;

/** A user with a browser. Any error that the browser reports fails the test. */
export class Visitor {
  page!: Page;
  private browser!: Browser;
  private complaints: string[] = [];
  /** Statuses of responses that a test expects, which the browser reports as errors. */
  private expected: readonly string[] = [];

  /** Starts the browser before all tests, and gives each of them a tab of its own. */
  static forEach(): Visitor {
    const visitor = new Visitor();
    beforeAll(async () => {
      visitor.browser = await startBrowser();
    });
    afterAll(() => visitor.browser.close());
    beforeEach(() => visitor.open());
    afterEach(() => visitor.leave());
    return visitor;
  }

  /** @param statuses like `404`, or `net::` for a server that is away */
  expects(...statuses: string[]): void {
    this.expected = statuses;
  }

  /** A window of somebody elsewhere, such as in another time zone. */
  browserIn(options: BrowserContextOptions): Promise<BrowserContext> {
    return this.browser.newContext(options);
  }

  private async open(): Promise<void> {
    this.complaints = [];
    this.expected = [];
    const context = await this.browser.newContext({ reducedMotion: 'reduce' });
    this.page = await context.newPage();
    this.page.setDefaultTimeout(120_000);
    this.page.on('console', (line) => {
      if (['error', 'warning'].includes(line.type())) this.complaints.push(line.text());
    });
    this.page.on('pageerror', (error) => this.complaints.push(`thrown: ${error.message}`));
    // As text, because the tests are compiled without the types of browsers.
    await this.page.addInitScript(`document.addEventListener('securitypolicyviolation', (violation) => {
      console.error('violates', violation.violatedDirective, violation.blockedURI);
    });`);
  }

  private async leave(): Promise<void> {
    await this.page.context().close();
    const isExpected = (text: string) => this.expected.some((status) => text.includes(status));
    expect(this.complaints.filter((text) => !isExpected(text))).toEqual([]);
  }

  /** Opens a view, signed in with this key. */
  async visit(url: string, key: string, hash = ''): Promise<void> {
    await this.page.addInitScript(`if (!sessionStorage.getItem('asked')) {
      sessionStorage.setItem('asked', 'yes');
      sessionStorage.setItem('sluice.key', ${JSON.stringify(key)});
    }`);
    await this.page.goto(`${url}/${hash}`);
  }

  /**
   * Opens a view on a phone, with the responses that it needs arriving one after another.
   * @param shown text that is there when it has loaded
   * @returns how much moves meanwhile, as the cumulative layout shift of browsers
   */
  async shiftWhileLoading(open: () => Promise<void>, shown: string): Promise<number> {
    const { page } = this;
    await page.setViewportSize({ width: 390, height: 844 });
    await page.addInitScript(`moved = 0; new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) moved += value;
    }).observe({ type: 'layout-shift', buffered: true });`);
    let asked = 0;
    let answered = 0;
    await page.route(
      () => true,
      async (route) => {
        if (route.request().resourceType() === 'fetch') await sleep(100 * ++asked);
        await route.continue();
      },
    );
    page.on('response', (response) => {
      if (response.request().resourceType() === 'fetch') answered++;
    });
    await open();
    await page.getByText(shown).first().waitFor();
    await until(() => answered === asked);
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    return page.evaluate<number>('moved');
  }

  button(name: string) {
    return this.page.getByRole('button', { name, exact: true });
  }

  /** Confirms twice that the secret is stored, because it was not copied. */
  async storeSecret(): Promise<void> {
    await this.button('I have stored it').click();
    await this.button('Yes, it is stored').click();
  }

  /** Checks in both themes, on a desk and on a phone, that the page fits and is accessible. Takes pictures if asked for. */
  async expectGoodLooks(name: string): Promise<void> {
    const { page } = this;
    await page.evaluate(await readFile(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8'));
    for (const [theme, width] of LOOKS) {
      await page.emulateMedia({ colorScheme: theme });
      await page.setViewportSize({ width, height: width < 720 ? 844 : 900 });
      // Also what is chosen from, which could be scrolled unnoticed.
      const scrolled = await page.evaluate(
        `[document.documentElement, ...document.querySelectorAll('nav, [role=tablist]')]
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map(({ ariaLabel }) => ariaLabel)`,
      );
      expect({ theme, width, scrolled }).toEqual({ theme, width, scrolled: [] });
      const violations = await page.evaluate(
        `axe.run({ runOnly: ${JSON.stringify(TAGS)} }).then(({ violations }) =>
          violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
      );
      expect({ theme, width, violations }).toEqual({ theme, width, violations: [] });
      const isShown = (theme === 'light') === (width === 1440);
      if (SCREENSHOTS !== undefined && isShown) {
        await mkdir(SCREENSHOTS, { recursive: true });
        const path = join(SCREENSHOTS, `${name}${width === 1440 ? '' : '-phone'}.png`);
        await page.screenshot({ path, animations: 'disabled' });
      }
    }
  }
}
