import { spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aZombie } from '../../../test/support/zombies.js';
import { CliError } from '../support/exit-codes.js';
import { lock } from './lock.js';

/** A process that has ended. */
const DEAD = spawnSync('true').pid;

describe('The lock of a batch', () => {
  let folder: string;
  let own: { pid: number; place: string; started: string };
  const path = () => join(folder, 'state.json');
  const file = () => `${path()}.lock`;
  const exits = process.rawListeners('exit');
  const parents: ChildProcess[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-lock-'));
    lock(path());
    own = JSON.parse(readFileSync(file(), 'utf8')) as typeof own;
    rmSync(file());
  });
  afterEach(() => {
    for (const parent of parents.splice(0)) parent.kill('SIGKILL');
    for (const listener of process.rawListeners('exit'))
      if (!exits.includes(listener)) process.removeListener('exit', listener as () => void);
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['of a process that has ended', () => ({ ...own, pid: DEAD })],
    [
      'of a process that was killed, and for which its parent has not waited',
      async () => ({ ...own, pid: await aZombie(parents), started: '' }),
    ],
    ['of an earlier process with the id of a living one', () => ({ ...own, pid: process.ppid, started: 'boot 1' })],
    ['of an earlier process with this id', () => ({ ...own, started: 'boot 1' })],
    ['of an earlier version, of a process that has ended', () => DEAD],
    ['that is empty', () => ''],
  ])('%s is taken over', async (_, content) => {
    const text = await content();
    writeFileSync(file(), text === '' ? '' : JSON.stringify(text));
    lock(path());
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual(own);
    expect(readdirSync(folder)).toEqual(['state.json.lock']);
  });

  it.each([
    [
      'of a living process',
      () => JSON.stringify({ ...own, pid: process.ppid, started: '' }),
      /^Process \d+ is sending/,
    ],
    ['of an earlier version, of a living process', () => String(process.ppid), /^Process \d+ is sending/],
    [
      'of another host',
      () => JSON.stringify({ ...own, place: 'elsewhere', pid: DEAD }),
      /of elsewhere .* If it does not run/,
    ],
    ...[
      'garbage',
      '0',
      '-1',
      '1.5',
      'null',
      '[]',
      '{}',
      '{"pid":"1"}',
      '{"pid":0,"place":"","started":""}',
      '1e3',
      '\u0000',
    ].map((text) => [`with ${JSON.stringify(text)}`, () => text, /is not a lock of sluice/] as const),
  ] as const)('%s is kept, with a sentence', (_, content, sentence) => {
    const text = content();
    writeFileSync(file(), text);
    expect(failure()).toMatchObject({ exitCode: 1, message: expect.stringMatching(sentence) as string });
    expect(readFileSync(file(), 'utf8')).toBe(text);
    expect(readdirSync(folder)).toEqual(['state.json.lock']);
  });

  it('fails with a sentence if its path is a folder, or is not in a folder', () => {
    mkdirSync(file());
    expect(failure().message).toBe(`${file()} cannot be read: it is a folder.`);
    rmSync(file(), { recursive: true });
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    expect(failure().message).toBe(
      `${file()} cannot be created: a part of the path is not a folder. Name another place with --state.`,
    );
    expect(existsSync(file())).toBe(false);
  });

  function failure(): CliError {
    try {
      lock(path());
    } catch (error) {
      if (error instanceof CliError) return error;
      throw error;
    }
    throw new Error('It is locked.');
  }
});
