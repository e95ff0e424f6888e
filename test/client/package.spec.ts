import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CHROMIUM, startBrowser } from '../support/browser.js';
import { accountOf, sharedApi } from '../support/api.js';
import { ROOT } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { bundled } from './bundled.js';

const run = async (args: string[], cwd = ROOT) => (await promisify(execFile)(process.execPath, args, { cwd })).stdout;

const CONSUMER = `
  import { RateLimitError, Sluice, SluiceError, verifyWebhook, type Message } from '@sluice/client';
  export async function use(sluice: Sluice): Promise<Message[]> {
    try {
      await sluice.messages.send('hello', { deliverAt: new Date(), signal: undefined });
      await verifyWebhook({}, '', '');
    } catch (error) {
      if (error instanceof RateLimitError) console.log(error.retryAfter);
      if (error instanceof SluiceError && error.code === 'storage_full') return [];
      // @ts-expect-error: there is no such code
      if (error instanceof SluiceError && error.code === 'storage_ful') return [];
    }
    return [...(await sluice.messages.list({ status: 'failed' }).page()).data];
  }
`;

const SEND = `
  new Sluice({ apiKey: process.argv[2], baseUrl: process.argv[3] }).messages.send('hello').then(
    ({ status }) => console.log(status),
    (error) => console.log(error),
  );
`;

describe('The package @sluice/client', () => {
  const api = sharedApi();
  const account = accountOf(api);
  let folder: string;
  beforeAll(async () => {
    await run([join(ROOT, 'scripts/build-client.mjs')]);
    folder = await mkdtemp(join(tmpdir(), 'sluice-package-'));
    await mkdir(join(folder, 'node_modules/@sluice'), { recursive: true });
    await symlink(join(ROOT, 'dist/client'), join(folder, 'node_modules/@sluice/client'), 'dir');
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };

  it.each([
    ['an ES module', 'send.mjs', "import { Sluice } from '@sluice/client';"],
    ['CommonJS', 'send.cjs', "const { Sluice } = require('@sluice/client');"],
  ])('sends from %s', async (_, name, imports) => {
    expect(await run([await file(name, imports + SEND), account.key, api.url])).toBe('queued\n');
  });

  it.each([
    ['ES modules', 'use.mts'],
    ['CommonJS', 'use.cts'],
  ])('has types for %s that need nothing else', async (_, name) => {
    const path = await file(name, CONSUMER);
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext'];
    const environment = ['--target', 'es2022', '--lib', 'es2022,dom,dom.iterable'];
    // Where there is no tsconfig.json.
    await run([join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, ...environment, path], folder);
  });
});

describeUnless(CHROMIUM === undefined ? 'The client in a browser: there is no Chromium.' : null)('In a browser', () => {
  const api = sharedApi();
  const account = accountOf(api);

  it('the client sends, and follows what becomes of it', async () => {
    const browser = await startBrowser();
    try {
      const page = await browser.newPage({ bypassCSP: true });
      await page.goto(`${api.url}/errors`);
      const { code } = await bundled({ format: 'iife', globalName: 'client' });
      await page.addScriptTag({ content: code });
      const script = `(async () => {
        const sluice = new client.Sluice({ apiKey: '${account.key}', baseUrl: location.origin });
        const onConnect = () => void sluice.messages.send('hello');
        for await (const { type, message } of sluice.events({ onConnect })) return [type, message.message, sluice.rateLimit.windows.length];
      })()`;
      expect(await page.evaluate(script)).toEqual(['message.queued', 'hello', 2]);
    } finally {
      await browser.close();
    }
  });
});
