import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { accountForEach, sharedApi, type Account, type TestApi } from '../support/api.js';
import { FINAL, HARMLESS, HostileProxy, PASSING, type Fault } from '../support/hostile-proxy.js';
import { readPages } from './page.js';

/** Texts that a message can have, and that programs tend to damage. */
export const TEXTS: Readonly<Record<string, string>> = {
  'a plain one': 'Order 4711 is paid',
  quotes: `"double" 'single' \`back\` \\ $HOME $(id) %s %n %`,
  'line ends': '\n\r\n one \n\n',
  'a leading dash': '-d @/etc/passwd',
  'a leading @': '@/etc/passwd',
  'a null': 'null',
  JSON: '{"message":"other"}',
  emoji: '👩‍👩‍👧‍👦😀',
  'a byte order mark': '\ufeffx',
  controls: '\u0001\u001b[2J\u007f\u009b\u202e',
  'a space': ' ',
  '262,144 bytes': '"'.repeat(262_144),
  '262,144 bytes of emoji': '😀'.repeat(65_536),
};

export function faultOf(title: string): Fault {
  const fault = PASSING[title] ?? HARMLESS[title] ?? FINAL[title];
  if (fault === undefined) throw new Error(`There is no ${title}.`);
  return fault;
}

/** The files of all pages in a folder, and a hostile proxy before the API. */
export class Programs {
  readonly api: TestApi = sharedApi();
  readonly account: Account = accountForEach(this.api);
  readonly folder = mkdtempSync(join(tmpdir(), 'sluice-programs-'));
  private hostile: HostileProxy | undefined;

  /** Construct it in `describe`. */
  constructor() {
    const bin = join(this.folder, 'bin');
    beforeAll(async () => {
      // Programs of the shell wait for nothing.
      mkdirSync(bin);
      writeFileSync(join(bin, 'sleep'), '#!/bin/sh\necho "waits $1" >&2\n', { mode: 0o755 });
      for (const { marks, text } of readPages().flatMap(({ blocks }) => blocks)) {
        if (marks.file === undefined || marks.file.includes('/')) continue;
        writeFileSync(join(this.folder, marks.file), `${text}\n`);
      }
      this.hostile = new HostileProxy(this.api.url);
      await this.hostile.start();
    });
    afterAll(() => {
      this.hostile?.stop();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  get proxy(): HostileProxy {
    if (this.hostile === undefined) throw new Error('It is not started.');
    return this.hostile;
  }

  start(command: string, args: readonly string[], env: Readonly<Record<string, string>>, input = '') {
    const { PATH = '' } = process.env;
    const child = spawn(command, args, {
      cwd: this.folder,
      // In another zone than UTC, in which the dates of HTTP are.
      env: { TZ: 'America/New_York', PATH: `${join(this.folder, 'bin')}:${PATH}`, KEY: this.account.key, ...env },
      detached: true,
    });
    child.stdin.on('error', () => undefined).end(input);
    const output = Promise.all([textOf(child.stdout), textOf(child.stderr)]);
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    return { child, ended: async () => ({ code: await ended, output: await output }) };
  }

  /** Runs a program that takes JSON and prints JSON. */
  async runJson<T>(command: string, args: readonly string[], input: unknown): Promise<T> {
    const { code, output } = await this.start(command, args, {}, JSON.stringify(input)).ended();
    if (code !== 0) throw new Error(`It ended with ${String(code)}:\n${output.join('\n')}`);
    return JSON.parse(output[0]) as T;
  }
}
