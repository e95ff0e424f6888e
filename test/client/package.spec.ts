import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { Webhook } from 'standardwebhooks';
import { CHROMIUM, startBrowser } from '../support/browser.js';
import { accountOf, sharedApi } from '../support/api.js';
import { readPage } from '../docs/page.js';
import { ForwardProxy } from '../support/forward-proxy.js';
import { ROOT } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { installTarball } from '../support/packages.js';
import { bundled } from './bundled.js';

const CONSUMER = `
  import { RateLimitError, Sluice, SluiceError, verifyWebhook, type Message } from '@sluice/client';
  export async function use(sluice: Sluice): Promise<Message[]> {
    try {
      await sluice.messages.send('hello', { deliverAt: new Date(), signal: undefined });
      await sluice.messages.send({ message: 'hello', type: 'order.paid', metadata: { region: 'eu' } });
      // @ts-expect-error: a message has a text
      await sluice.messages.send({ type: 'order.paid' });
      Sluice.fromEnv({ onResponse: ({ requestId, rateLimit }) => console.log(requestId, rateLimit?.remaining) });
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

/** All of its examples, one after another, with what they leave to the reader. */
const README = [
  'declare const signal: AbortSignal, request: Request, handle: (text: string) => Promise<void>;',
  ...readPage('libs/client/README.md').blocks.flatMap(({ language, text }) => (language === 'ts' ? [text] : [])),
].join('\n');

const LOAD = {
  mjs: "import * as client from '@sluice/client';",
  cjs: "const client = require('@sluice/client');",
};
const FORMATS = ['mjs', 'cjs'] as const;
const USE = `
  import('./use.mjs')
    .then(({ use }) => use(client, ...process.argv.slice(2)))
    .then((seen) => console.log(JSON.stringify(seen)));
`;

/** Other runtimes, in a folder of their own. */
const RUNTIMES = ['deno@2.9.6', 'bun@1.4.5'];
const tools = mkdtempSync(join(tmpdir(), 'sluice-runtimes-'));
const tool = (name: string) => join(tools, 'node_modules/.bin', name);
const missing = install();
afterAll(() => {
  rmSync(tools, { recursive: true, force: true });
});

const run = async (command: string, args: readonly string[], cwd = ROOT) => {
  const env = { ...process.env, DENO_DIR: tools, DENO_NO_UPDATE_CHECK: '1' };
  return (await promisify(execFile)(command, args, { cwd, env })).stdout;
};

/** @returns why they are missing */
function install(): string | null {
  const options = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', '--prefix', tools];
  try {
    execFileSync('npm', ['install', ...options, ...RUNTIMES], { stdio: 'pipe', timeout: 180_000 });
    // The script that was left out puts the binary into its place.
    execFileSync(process.execPath, ['install.js'], { cwd: join(tools, 'node_modules/bun'), stdio: 'pipe' });
    return null;
  } catch {
    return `The client in Deno and Bun: ${RUNTIMES.join(' and ')} cannot be installed.`;
  }
}

describe('The package @sluice/client, installed from its tarball in an empty folder,', () => {
  const api = sharedApi();
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-package-'));
    await installTarball('client', folder);
    await copyFile(join(__dirname, 'programs/use.mjs'), join(folder, 'use.mjs'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };

  /** Uses the package, loaded in one of its formats, until the process ends by itself. */
  const expectUse = async (command: string, options: readonly string[], format: keyof typeof LOAD) => {
    const path = await file(`main.${format}`, LOAD[format] + USE);
    const output = await run(command, [...options, path, api.url, JSON.stringify(signedWebhook())], folder);
    expect(JSON.parse(output)).toEqual({
      statuses: ['queued', 'queued', 'queued'],
      events: ['message.queued: one', 'message.queued: two', 'message.queued: three'],
      listed: ['three', 'two', 'one'],
      consumed: ['one', 'two', 'three'],
      webhook: 'Schöne Grüße',
      windows: ['minute', 'day'],
      errors: ['message_not_found', 'timed_out', 'connection_failed'],
    });
  };

  it.each(FORMATS)('works in Node.js, as %s', (format) => expectUse(process.execPath, [], format));

  describeUnless(missing)('in other runtimes', () => {
    const options = ['run', '--allow-net', '--node-modules-dir=manual'];
    it('works in Deno', () => expectUse(tool('deno'), options, 'mjs'));

    it.each(FORMATS)('works in Bun, as %s', (format) => expectUse(tool('bun'), [], format));
  });

  it.each([
    ['ES modules', 'use.mts', CONSUMER],
    ['CommonJS', 'use.cts', CONSUMER],
    ['its README', 'readme.mts', README],
  ])('has types for %s that need nothing else', async (_, name, text) => {
    const path = await file(name, text);
    const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext'];
    const environment = ['--target', 'es2022', '--lib', 'es2022,dom,dom.iterable'];
    // Where there is no tsconfig.json.
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    await run(process.execPath, [tsc, ...options, ...environment, path], folder);
  });

  it('works when it is bundled with a program, and has types for one that is', async () => {
    const path = await file('bundled.ts', CONSUMER + LOAD.mjs + USE);
    const outfile = join(folder, 'bundled.mjs');
    await build({
      entryPoints: [path],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'neutral',
      external: ['./use.mjs'],
    });
    const output = await run(process.execPath, [outfile, api.url, JSON.stringify(signedWebhook())], folder);
    expect(JSON.parse(output)).toMatchObject({ consumed: ['one', 'two', 'three'], windows: ['minute', 'day'] });

    const consumer = await file('consumer.ts', CONSUMER);
    const options = ['--noEmit', '--strict', '--module', 'preserve', '--moduleResolution', 'bundler'];
    const environment = ['--target', 'es2022', '--lib', 'es2022,dom,dom.iterable'];
    await run(
      process.execPath,
      [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, ...environment, consumer],
      folder,
    );
  });

  it('sends by the proxy of the environment as docs/client.md shows it', async () => {
    const account = await api.signUp();
    const proxy = new ForwardProxy(api.url);
    const { text = '' } =
      readPage('docs/client.md').blocks.find(({ text }) => text.includes('EnvHttpProxyAgent')) ?? {};
    const path = await file('proxied.mts', `${text}\nconsole.log((await sluice.messages.send('hello')).status);`);
    const outfile = join(folder, 'proxied.mjs');
    await build({ entryPoints: [path], outfile, format: 'esm' });
    await symlink(join(ROOT, 'node_modules/undici'), join(folder, 'node_modules/undici'));
    const env = {
      SLUICE_API_KEY: account.key,
      SLUICE_BASE_URL: 'http://sluice.invalid',
      HTTP_PROXY: await proxy.start(),
    };
    try {
      const { stdout } = await promisify(execFile)(process.execPath, [outfile], { cwd: folder, env });
      expect([stdout, proxy.asked]).toEqual(['queued\n', ['sluice.invalid:80']]);
    } finally {
      proxy.stop();
    }
  });

  it('has what a reader expects, and no sources', async () => {
    const installed = join(folder, 'node_modules/@sluice/client');
    expect((await readdir(installed)).sort()).toEqual(['LICENSE', 'README.md', 'cjs', 'esm', 'package.json']);
    const types = (await readdir(join(installed, 'esm'))).filter((name) => name.endsWith('.ts'));
    expect(types.every((name) => name.endsWith('.d.ts')) && types.includes('index.d.ts')).toBe(true);
  });
});

function signedWebhook() {
  const secret = `whsec_${Buffer.from('a secret of 24 bytes ….').toString('base64')}`;
  const at = new Date();
  const data = { id: 'msg_1', message: 'Schöne Grüße', createdAt: at.toISOString() };
  const body = JSON.stringify({ type: 'message', timestamp: data.createdAt, data });
  const headers = {
    'webhook-id': data.id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(data.id, at, body),
  };
  return { headers, body, secret };
}

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
