import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { freePort, until } from '../support/processes.js';
import { describeUnless } from '../support/skipping.js';
import { readPage } from './page.js';

const SECRET = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`;
const has = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

interface Receiver {
  readonly language: string;
  readonly file: string;
  readonly program: string;
  readonly args: readonly string[];
  /** What it needs and is not here. */
  readonly missing: string | null;
}

/** How each receiver of the page is started. */
const RECEIVERS: readonly Receiver[] = [
  { language: 'js', file: 'receiver.mjs', program: 'node', args: ['receiver.mjs'], missing: null },
  {
    ...{ language: 'python', file: 'receiver.py', program: 'python3', args: ['receiver.py'] },
    missing: has('python3', '-c', 'import standardwebhooks') ? null : 'standardwebhooks is not installed for Python.',
  },
  {
    ...{ language: 'go', file: 'receiver.go', program: 'go', args: ['run', 'receiver.go'] },
    missing: has('go', 'version') ? null : 'Go is not installed.',
  },
];
// Compiling the one in Go takes a minute.
const TESTED = RECEIVERS.filter(({ language }) => language !== 'go' || process.env.SLUICE_TEST === 'all');

/** The headers of a request that is signed. */
function signed(body: string, at = new Date()): Record<string, string> {
  return {
    'webhook-id': 'msg_x',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(SECRET).sign('msg_x', at, body),
  };
}

for (const receiver of TESTED)
  describeUnless(receiver.missing)(`The receiver of the documentation in ${receiver.language}`, () => {
    const { language, file, program, args } = receiver;
    let folder: string;
    let child: ChildProcess | undefined;
    let port: number;
    let printed = '';

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'sluice-receiver-'));
      const block = readPage('docs/webhooks.md').blocks.find((one) => one.language === language);
      writeFileSync(join(folder, file), block?.text ?? '');
      port = await freePort();
      const { PATH = '', HOME = folder } = process.env;
      const env = { PATH, HOME, PORT: String(port), WEBHOOK_SECRET: SECRET };
      child = spawn(program, args, { cwd: folder, env, detached: true });
      child.stdout?.on('data', (text) => (printed += String(text)));
      child.stderr?.resume();
      await until(() => post('{}', {}).then(Boolean), 120_000);
    });
    afterAll(() => {
      if (child !== undefined) process.kill(-(child.pid ?? 0), 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });

    /** @returns the status; null without a response */
    const post = (body: string | Buffer, headers: Readonly<Record<string, string>>) =>
      fetch(`http://127.0.0.1:${port}/hooks`, { method: 'POST', body, headers }).then(
        ({ status }) => status,
        () => null,
      );
    const works = async (text: string) => {
      const body = JSON.stringify({ type: 'message', data: { id: 'msg_x', message: text } });
      expect(await post(body, signed(body))).toBe(204);
      await until(
        () => printed.includes(text),
        30_000,
        () => printed,
      );
    };
    /** Sends this, and waits until the receiver closes the connection, or does so itself. */
    const raw = (text: string) =>
      new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(text));
        const timer = setTimeout(() => socket.destroy(), 300);
        socket
          .on('error', () => undefined)
          .on('close', () => {
            clearTimeout(timer);
            resolve();
          });
        socket.resume();
      });

    const HOSTILE: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['no signature', () => post('{}', {})],
      ['a signature that is not in base64', () => post('{}', { ...signed('{}'), 'webhook-signature': 'v1,%%%' })],
      ['a signature without a comma', () => post('{}', { ...signed('{}'), 'webhook-signature': 'v1 v2 ,,' })],
      ['a signature of another body', () => post('{"a":1}', signed('{}'))],
      ['an old timestamp', () => post('{}', signed('{}', new Date(Date.now() - 600_000)))],
      ['a timestamp that is none', () => post('{}', { ...signed('{}'), 'webhook-timestamp': 'now' })],
      ['a body that is not UTF-8', () => post(Buffer.from([0xff, 0xfe]), signed('{}'))],
      ['a large body', () => post(Buffer.alloc(8 * 1_048_576, 'x'), signed('{}'))],
    ];
    it.each(HOSTILE)('refuses %s and goes on', async (title, send) => {
      expect([400, 401, 413, null]).toContain(await send());
      await works(`after ${title}`);
    });

    it.each([
      ['a request that is cut', 'POST /hooks HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{'],
      ['a chunked request that is cut', 'POST /hooks HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{'],
      ['a length that is none', 'POST /hooks HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n{}'],
      ['no HTTP', '\u0000\u0001\r\n\r\n'],
      ['nothing', ''],
    ])('survives %s', async (title, text) => {
      await raw(text);
      await works(`after ${title}`);
    });

    it.each(['', 'whsec_', 'whsec_x'])('does not start with the secret %j', (secret) => {
      if (language === 'python') return;
      const env = { ...process.env, PORT: '0', WEBHOOK_SECRET: secret };
      expect(spawnSync(program, args, { cwd: folder, env, timeout: 60_000 }).status).toBe(1);
    });
  });
