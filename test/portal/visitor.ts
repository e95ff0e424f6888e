import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { CHROMIUM, startBrowser } from '../support/browser.js';

export const missing =
  CHROMIUM === undefined ? 'no Chromium to open the portal with; CHROMIUM_PATH may name one.' : null;

/** Somebody with a browser. Whatever the browser complains about fails the test. */
export class Visitor {
  page!: Page;
  private browser!: Browser;
  private complaints: string[] = [];
  /** Statuses of responses that a test expects, which the browser reports as errors. */
  private expected: readonly string[] = [];

  /** Starts the browser before all tests, and gives each of them a tab of its own. */
  static forEach(options: BrowserContextOptions = {}): Visitor {
    const visitor = new Visitor();
    beforeAll(async () => {
      visitor.browser = await startBrowser();
    });
    afterAll(() => visitor.browser.close());
    beforeEach(() => visitor.open(options));
    afterEach(() => visitor.leave());
    return visitor;
  }

  /** @param statuses like `404`, or `net::` for a server that is away */
  expects(...statuses: string[]): void {
    this.expected = statuses;
  }

  async open(options: BrowserContextOptions = {}): Promise<void> {
    this.complaints = [];
    this.expected = [];
    const context = await this.browser.newContext(options);
    this.page = await context.newPage();
    this.page.setDefaultTimeout(60_000);
    this.page.on('console', (line) => {
      if (['error', 'warning'].includes(line.type())) this.complaints.push(line.text());
    });
    this.page.on('pageerror', (error) => this.complaints.push(`thrown: ${error.message}`));
    // As text, because the tests are compiled without the types of browsers.
    await this.page.addInitScript(`document.addEventListener('securitypolicyviolation', (violation) => {
      console.error('violates', violation.violatedDirective, violation.blockedURI);
    });`);
  }

  async leave(): Promise<void> {
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

  button(name: string) {
    return this.page.getByRole('button', { name, exact: true });
  }
}
