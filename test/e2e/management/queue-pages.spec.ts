import { accountOf, OPERATOR, ownApi } from '../../support/api.js';
import { CHROMIUM, startBrowser } from '../../support/browser.js';
import { callUndocumented, type HttpResponse } from '../../support/http.js';
import { describeUnless } from '../../support/skipping.js';

const KEY = OPERATOR.key;
const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

const missing = CHROMIUM === undefined ? 'no Chromium to open /queues with; CHROMIUM_PATH may name one.' : null;

describe('The queue pages', () => {
  const api = ownApi();
  const account = accountOf(api);

  function ask(path: string, authorization?: string, method = 'GET'): Promise<HttpResponse> {
    return callUndocumented(api.managementUrl, { method, path, headers: { authorization } });
  }

  it.each(['/queues', '/queues/', '/queues/api/queues', '/queues/static/x.js', '/queues/../queues/api/queues'])(
    'require the operators\u2019 key: %s',
    async (path) => {
      const wrong = [undefined, basic('admin', 'wrong'), basic(KEY, ''), `Bearer ${account.key}`, 'Bearer', KEY];
      for (const authorization of wrong) {
        const response = await ask(path, authorization);
        expect({ authorization, status: response.status }).toEqual({ authorization, status: 401 });
        expect(response.headers['www-authenticate']).toMatch(/^Basic realm=/);
      }
    },
  );

  it('accept it as a password of any user, and as a bearer token', async () => {
    for (const authorization of [basic('', KEY), basic('ops', KEY), `Bearer ${KEY}`, `bearer ${KEY}`]) {
      const response = await ask('/queues', authorization);
      expect(response.status).toBe(200);
      expect(response.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
      });
      expect(response.bytes.toString()).toContain('<title>Sluice</title>');
    }
  });

  it('show the queue and its jobs', async () => {
    const { id } = await api.sent(account, { message: 'to be looked at' });
    await api.relayed(id);
    const response = await ask('/queues/api/queues?activeQueue=messages&status=waiting&page=1', `Bearer ${KEY}`);
    const { queues } = response.body as { queues: { name: string; readOnlyMode: boolean; jobs: { id: string }[] }[] };
    expect(queues).toMatchObject([{ name: 'messages', readOnlyMode: true }]);
    expect(queues[0]?.jobs.map((job) => job.id)).toContain(id);
  });

  it.each(['/queues', '/queues/api/queues', '/queues/static/none.js'])(
    'allow no script but their own: %s',
    async (path) => {
      const { headers } = await ask(path, `Bearer ${KEY}`);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(String(headers['content-security-policy']).split('; ')).toEqual([
        ...["default-src 'self'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:"],
        ...["base-uri 'self'", "form-action 'none'", "frame-ancestors 'none'"],
      ]);
    },
  );

  it('change nothing', async () => {
    const { id } = await api.sent(account);
    await api.relayed(id);
    for (const [method, path] of [
      ['PUT', '/queues/api/queues/messages/pause'],
      ['PUT', `/queues/api/queues/messages/${id}/clean`],
      ['PUT', '/queues/api/queues/messages/empty'],
      ['PUT', '/queues/api/queues/messages/obliterate'],
      ['POST', '/queues/api/queues/messages/add'],
      ['DELETE', '/queues/api/queues/messages'],
    ] as const) {
      expect({ path, status: (await ask(path, `Bearer ${KEY}`, method)).status }).toEqual({ path, status: 404 });
    }
    expect(await api.isQueued(id)).toBe(true);
  });

  it('do not exist without an operators\u2019 key', async () => {
    const other = await api.join({ ADMIN_API_KEY: '' });
    for (const path of ['/queues', '/queues/', '/queues/api/queues']) {
      expect((await callUndocumented(other.managementUrl, { path })).status).toBe(404);
    }
  });

  describeUnless(missing)('in a browser', () => {
    it('show a job, and need nothing that their policy forbids but a font from another server', async () => {
      const browser = await startBrowser();
      try {
        // The first message of an account: more within a second are listed as prioritized.
        const { id } = await api.sent(await api.signUp(), { message: 'to be looked at' });
        await api.relayed(id);
        const page = await browser.newPage({ httpCredentials: { username: 'ops', password: KEY } });
        page.setDefaultTimeout(120_000);
        const violations: string[] = [];
        page.on('pageerror', (error) => violations.push(`thrown: ${error.message}`));
        await page.exposeFunction('report', (violation: string) => violations.push(violation));
        // As text, because the tests are compiled without the types of browsers.
        await page.addInitScript(`document.addEventListener('securitypolicyviolation', (violation) => {
          report([violation.violatedDirective, violation.blockedURI].join(' '));
        });`);
        await page.goto(`${api.managementUrl}/queues/queue/messages?status=waiting`);
        await page.getByText(id).first().waitFor();
        expect(violations).toEqual([expect.stringMatching(/^style-src-elem https:\/\/fonts\.googleapis\.com\//)]);
        // A script that a job smuggles into the page does not run.
        await page.evaluate(
          `document.body.append(Object.assign(document.createElement('script'), { text: 'smuggled = 1' }))`,
        );
        expect(await page.evaluate('typeof smuggled')).toBe('undefined');
      } finally {
        await browser.close();
      }
    });
  });
});
