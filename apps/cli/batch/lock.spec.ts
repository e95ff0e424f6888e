import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lock } from './lock.js';

describe('The lock of a batch', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-lock-'));
    path = join(folder, 'new', 'batch.json');
  });
  afterEach(() => {
    jest.restoreAllMocks();
    rmSync(folder, { recursive: true });
  });

  const holder = () => Number(readFileSync(`${path}.lock`, 'utf8'));
  const heldBy = (pid: number) => {
    lock(path);
    writeFileSync(`${path}.lock`, String(pid));
  };

  it('is held by this process, in a folder of its owner', () => {
    lock(path);
    expect([holder(), statSync(`${path}.lock`).mode & 0o777]).toEqual([process.pid, 0o600]);
    expect(existsSync(path)).toBe(false);
  });

  it('is refused while another process has it', () => {
    heldBy(process.ppid);
    expect(() => {
      lock(path);
    }).toThrow(`Process ${process.ppid} is sending these lines.`);
    expect(holder()).toBe(process.ppid);
  });

  it('is refused while a process of another user has it', () => {
    heldBy(1);
    jest.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
    });
    expect(() => {
      lock(path);
    }).toThrow('Process 1 is sending these lines.');
  });

  it('is taken over from a process that was killed', () => {
    const { pid } = spawnSync('true');
    heldBy(pid);
    lock(path);
    expect([holder(), readdirSync(join(folder, 'new'))]).toEqual([process.pid, ['batch.json.lock']]);
  });
});
