import { linkSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { codeOf, createPrivateFolder, fileError, readIfAny } from '../files/private-file.js';
import { CliError } from '../support/exit-codes.js';

/**
 * The process that has a lock. Its id alone does not identify it: a later process may get the same id, and other
 * machines and containers have separate ids.
 */
interface Holder {
  readonly pid: number;
  /** The scope of the process id: the host, and on Linux the namespace. */
  readonly place: string;
  /** When it was started, as the system says it; empty where it does not. */
  readonly started: string;
}

/** The start of a process that was killed, and whose parent has not waited for it. */
const ENDED = 'ended';

/**
 * Keeps other processes from the same run until this process ends. The lock of a process that was killed is taken over.
 */
export function lock(path: string): void {
  const file = `${path}.lock`;
  const own = holderOf(process.pid);
  try {
    createPrivateFolder(dirname(file));
    while (!create(file, JSON.stringify(own))) takeOver(file, own);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { message } = fileError(file, 'created', error);
    throw new CliError(`${message} Name another place with --state.`);
  }
  process.once('exit', () => {
    rmSync(file, { force: true });
  });
}

/** @throws CliError if its process is alive, or may be */
function takeOver(file: string, { place }: Holder): void {
  const text = readIfAny(file);
  if (text === null) return;
  const holder = parse(text, place);
  if (holder === null && text.trim() !== '') {
    throw new CliError(`${file} is not a lock of sluice. If it is not needed, remove it.`);
  }
  if (holder !== null && holder.place !== place) {
    throw new CliError(
      `Process ${holder.pid} of ${holder.place} is sending these lines, or was killed. If it does not run, remove ${file}.`,
    );
  }
  if (holder !== null && isAlive(holder)) {
    throw new CliError(`Process ${holder.pid} is sending these lines. If that is something else, remove ${file}.`);
  }
  const taken = `${file}.${process.pid}`;
  try {
    renameSync(file, taken);
    // A process that was faster may have taken it over since it was read.
    if (readFileSync(taken, 'utf8') === text) rmSync(taken);
    else renameSync(taken, file);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

function parse(text: string, here: string): Holder | null {
  // Earlier versions wrote no more than the id.
  if (/^[1-9]\d*$/.test(text)) return { pid: Number(text), place: here, started: '' };
  try {
    const { pid, place, started } = JSON.parse(text) as Partial<Holder>;
    const isRight = Number.isSafeInteger(pid) && Number(pid) > 0;
    return isRight && typeof place === 'string' && typeof started === 'string'
      ? { pid: Number(pid), place, started }
      : null;
  } catch {
    return null;
  }
}

/** Creates it with its content: a crash leaves no empty one. */
function create(file: string, text: string): boolean {
  const temporary = `${file}.new-${process.pid}`;
  try {
    writeFileSync(temporary, text, { mode: 0o600 });
    linkSync(temporary, file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function isAlive({ pid, started }: Holder): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process of another user.
    if (codeOf(error) !== 'EPERM') return false;
  }
  const now = startOf(pid);
  return now !== ENDED && (started === '' || now === '' || now === started);
}

function holderOf(pid: number): Holder {
  return {
    pid,
    place: [hostname(), onLinux(() => readlinkSync('/proc/self/ns/pid'))].join(' ').trim(),
    started: startOf(pid),
  };
}

/** Since when a process runs: the start of the system, and ticks from then on. ENDED for a zombie. */
function startOf(pid: number): string {
  return onLinux(() => {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // The name of the program, in parentheses, may have spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').trim().split(' ');
    return /^[ZX]/.test(fields[0] ?? '') ? ENDED : `${boot} ${fields[19] ?? ''}`;
  });
}

/** @returns an empty text where there is no such thing */
function onLinux(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
