import { readdirSync, readFileSync } from 'node:fs';

/** Microseconds in a tick of the kernel's CPU accounting: Linux reports 100 ticks a second on every machine. */
const TICK_MICROS = 10_000;

interface Process {
  readonly pid: number;
  readonly parent: number;
  /** Its own ticks. */
  readonly own: number;
  /** Ticks of children that have exited. */
  readonly ofEnded: number;
}

/** User and system CPU time of a process and all its descendants, in microseconds. */
function cpuMicros(pid: number): number {
  const all = processes();
  const ticks = (one: Process): number =>
    all.filter(({ parent }) => parent === one.pid).reduce((sum, child) => sum + ticks(child), one.own + one.ofEnded);
  const root = all.find((one) => one.pid === pid);
  if (root === undefined) throw new Error(`Process ${pid} exited while it was measured.`);
  return ticks(root) * TICK_MICROS;
}

/**
 * Measures the CPU time of processes from now on.
 * @param pids by name
 * @returns a function that returns the microseconds until then, by name
 */
export function cpuMeter(pids: Readonly<Record<string, number>>): () => Record<string, number> {
  const entries = Object.entries(pids).map(([name, pid]) => ({ name, pid, before: cpuMicros(pid) }));
  return () => Object.fromEntries(entries.map(({ name, pid, before }) => [name, cpuMicros(pid) - before]));
}

/** Peak resident memory of a process, in bytes. */
export function peakBytes(pid: number): number {
  return statusBytes(pid, 'VmHWM');
}

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  return statusBytes(pid, 'VmRSS');
}

function statusBytes(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return 1_024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
}

function processes(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => read(name) ?? []);
}

function read(pid: string): Process | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is a name in brackets, which may hold blanks; the third is the state.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15);
    return { pid: Number(pid), parent, own: user + system, ofEnded: childUser + childSystem };
  } catch {
    // The process exited after the folder was read.
    return null;
  }
}
