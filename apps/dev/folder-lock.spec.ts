import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../test/support/processes.js';
import { aZombie } from '../../test/support/zombies.js';

const LOCK = join(ROOT, 'apps/dev/folder-lock.mjs');
const program = (file: string, work: string) => [
  ...['--input-type=module', '-e', `import { exclusively } from '${LOCK}'; await exclusively('${file}', ${work});`],
];

/** As the holder writes itself: with its start. The name of the program has no spaces. */
const whole = (pid: number) => `${pid} ${readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[21] ?? ''}`;

describe('The lock of a folder', () => {
  let folder: string;
  let file: string;
  const running: ChildProcess[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-folder-lock-'));
    file = join(folder, 'lock');
  });
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  /** Takes the lock, and gives it back. @returns what is printed */
  const pass = async () => (await promisify(execFile)(process.execPath, program(file, '() => {}'))).stdout;

  it.each([
    ['nobody', () => null],
    ['a process that has ended', () => String(spawnSync('true').pid)],
    ['a process that was killed, and for which its parent has not waited', async () => whole(await aZombie(running))],
    ['an earlier process with the id of a living one', () => `${process.pid} 1`],
    ['an earlier version, which wrote only the id', () => String(process.pid)],
    ['something else', () => 'else'],
  ])('is free if it was taken by %s', async (_who, holder) => {
    const text = await holder();
    if (text !== null) symlinkSync(text, file);
    expect(await pass()).toBe('');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is waited for while its process works, until that is killed', async () => {
    const work = "async () => { console.log('working'); await new Promise((resolve) => setTimeout(resolve, 1e6)); }";
    const first = spawn(process.execPath, program(file, work), { stdio: ['ignore', 'pipe', 'inherit'] });
    running.push(first);
    await once(first.stdout, 'data');
    const second = pass();
    await Promise.race([second, new Promise((resolve) => setTimeout(resolve, 1_000))]);
    expect(readdirSync(folder)).toEqual(['lock']);
    first.kill('SIGKILL');
    expect(await second).toBe('Waiting for another process that prepares the same folder …\n');
  });
});
