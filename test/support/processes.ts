import { execFileSync, spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const ROOT = join(__dirname, '..', '..');

/** Nothing that tests wait for takes long, but a busy machine does. Within the time limit of a test (jest.config.mjs). */
const DEADLINE_MS = 120_000;

/** Settings of a process whose clock can be set. */
export const SHIFTED_CLOCK = { NODE_OPTIONS: `--require ${join(ROOT, 'test/support/shifted-clock.cjs')}` };

/** A process of the built program, with what it printed. It can be started again after it has ended. */
export class Program {
  output = '';
  /** How it ended whenever the test did not cause it. */
  readonly deaths: string[] = [];
  private child!: ChildProcess;
  private isReady = false;
  private isEnding = false;

  private constructor(
    private readonly spawn: () => ChildProcess,
    private readonly env: Readonly<Record<string, string>>,
    private readonly isGroup = false,
  ) {
    this.begin();
  }

  /**
   * @param script relative to the repository
   * @param interpreter what runs it
   * @param args what it is called with
   */
  static run(
    script: string,
    env: Readonly<Record<string, string>>,
    interpreter = process.execPath,
    args: readonly string[] = [],
  ): Program {
    // The settings of the caller must not leak into the test.
    const { PATH, HOME, TMPDIR } = process.env;
    const inherited = Object.fromEntries(Object.entries({ PATH, HOME, TMPDIR }).filter(([, value]) => value));
    const options: SpawnOptions = {
      cwd: ROOT,
      env: { ...inherited, LOG_LEVEL: 'warn', MANAGEMENT_PORT: '0', ...env },
      // It sends 'ready' on the channel, and notices by it when this process is killed.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    };
    return new Program(() => spawn(interpreter, [join(ROOT, script), ...args], options), env);
  }

  /** A Bash script whose processes get signals together, as from a terminal. */
  static runGroup(script: string, cwd: string): Program {
    const env = { PATH: process.env.PATH ?? '' };
    const options = { cwd, env, detached: true };
    return new Program(() => spawn('bash', ['--noprofile', '--norc', script], options), env, true);
  }

  private begin(): void {
    this.output = '';
    this.isReady = false;
    this.isEnding = false;
    this.child = this.spawn();
    this.child.on('message', (message) => {
      if (message === 'ready') this.isReady = true;
    });
    this.child.on('exit', (code, signal) => {
      if (this.isEnding) return;
      this.deaths.push(`A process ended unexpectedly (${signal ?? code ?? 0}): ${this.output.slice(-1_000)}`);
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Where it serves, if it has got a port. */
  get url(): string {
    return `http://127.0.0.1:${this.env.PORT ?? ''}`;
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Resolves when it has printed this. */
  async printed(text: string | RegExp, deadlineMs?: number): Promise<void> {
    await this.until(() => this.output.match(text) !== null || !this.running, deadlineMs);
    if (this.output.match(text) === null) throw new Error(`It ended without printing ${String(text)}:\n${this.output}`);
  }

  /** Resolves to the URL of its management port, which its log contains. */
  async managementUrl(): Promise<string> {
    const address = /"management":"([^"]+)"/;
    await this.printed(address);
    return address.exec(this.output)?.[1] ?? '';
  }

  /** Resolves when it serves, or consumes. */
  async ready(): Promise<void> {
    await this.until(() => this.isReady || !this.running);
    if (!this.isReady) throw new Error(`It ended before it was ready:\n${this.output}`);
  }

  signal(name: NodeJS.Signals): void {
    this.isEnding ||= !['SIGSTOP', 'SIGCONT'].includes(name);
    if (this.isGroup) killAll([-this.pid], name);
    else if (this.running) this.child.kill(name);
  }

  /** @returns its exit code, or the signal that ended it */
  async ended(deadlineMs?: number): Promise<number | NodeJS.Signals | null> {
    await this.until(() => !this.running, deadlineMs);
    return this.child.exitCode ?? this.child.signalCode;
  }

  /** Stops it as an orchestrator would; resolves to its exit code. */
  end(): Promise<number | NodeJS.Signals | null> {
    this.signal('SIGTERM');
    return this.ended();
  }

  /** Kills it without warning. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended();
  }

  /** Starts it again; resolves when it serves. */
  restart(): Promise<void> {
    this.begin();
    return this.ready();
  }

  /** Sets its clock ahead by so many milliseconds, or behind, if it runs with SHIFTED_CLOCK. Resolves when it is set. */
  async setClock(byMs: number): Promise<void> {
    const file = this.env.CLOCK_FILE ?? '';
    writeFileSync(`${file}.new`, String(byMs));
    renameSync(`${file}.new`, file);
    await this.until(() => !existsSync(file));
  }

  /** It and all its descendants, at one moment. */
  family(): number[] {
    return [this.pid, ...descendants(this.pid)];
  }

  private until(condition: () => boolean, deadlineMs?: number): Promise<void> {
    return until(condition, deadlineMs, () => this.output);
  }
}

export function descendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const line of execFileSync('ps', ['-Ao', 'pid=,ppid=']).toString().trim().split('\n')) {
    const [child = 0, parent = 0] = line.trim().split(/\s+/).map(Number);
    children.set(parent, [...(children.get(parent) ?? []), child]);
  }
  const below = (parent: number): number[] => (children.get(parent) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(pid);
}

/** Ends processes as a power cut would, all of them at once. */
export function killAll(pids: readonly number[], signal: NodeJS.Signals = 'SIGKILL'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended already.
    }
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie is dead, but its exit code was not read yet.
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)])
      .toString()
      .startsWith('Z');
  } catch {
    return false;
  }
}

/** The memory that a process has at this moment. */
export function residentBytes(pid: number): number {
  return 1_024 * Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString());
}

export async function until(
  condition: () => boolean | Promise<boolean>,
  deadlineMs = DEADLINE_MS,
  describe: () => string = () => '',
): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  // Conditions ask other processes, so that frequent checks would slow down what they wait for.
  for (let pause = 10; !(await condition()); pause = Math.min(1.3 * pause, 50)) {
    if (Date.now() > deadline) throw new Error(`Not within ${deadlineMs} ms. ${describe()}`);
    await sleep(pause);
  }
}

/** Opens a server on a free port of this machine. @returns its origin, such as `http://127.0.0.1:3000` */
export async function listen(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The first of some free ports in a row, which nobody else gets in this run: they may be used later, and again. */
export async function freePort(inARow = 1): Promise<number> {
  const [from, to] = JSON.parse(process.env.TEST_PORTS ?? '[]') as [number, number];
  for (;;) {
    const first = randomInt(from, to - inARow + 2);
    const ports = Array.from({ length: inARow }, (_, index) => first + index);
    if (ports.every(claim) && !(await Promise.all(ports.map(isFree))).includes(false)) return first;
  }
}

/** @returns false if it was claimed before */
function claim(port: number): boolean {
  try {
    writeFileSync(join(process.env.TEST_FOLDER ?? '', `port-${port}`), '', { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  await once(server.close(), 'close');
  return true;
}
