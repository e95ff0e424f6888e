import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { until } from '../support/processes.js';

/** How long one block may take, in milliseconds. */
const PATIENCE = 120_000;
/** How long a program may take until it serves, and until it has stopped; it may have to be built first. */
const START_PATIENCE = 90_000;
const STOP_PATIENCE = 30_000;

/** A shell in which the blocks of a page are run one after the other, and the programs that they leave running. */
export class Session {
  private services: Service[] = [];
  private count = 0;

  private constructor(
    private readonly shell: ChildProcessByStdio<Writable, null, null>,
    private readonly cwd: string,
    /** Where scripts and what they print are kept, outside of the folder that the page is about. */
    private readonly folder: string,
  ) {}

  static async open(cwd: string, env: Readonly<Record<string, string>>): Promise<Session> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-docs-shell-'));
    const shell = spawn('bash', ['--noprofile', '--norc'], { cwd, env, stdio: ['pipe', 'ignore', 'ignore'] });
    // A shell that has ended takes no more; the block that is run next says so.
    shell.stdin.on('error', () => undefined);
    shell.stdin.write('set -euo pipefail\n');
    return new Session(shell, cwd, folder);
  }

  /**
   * Runs a block to its end, in this shell: what it sets is there for the next one.
   * @returns what it printed on standard output
   * @throws Error with all that it printed when a command failed
   */
  async run(script: string): Promise<string> {
    const file = join(this.folder, `block-${++this.count}`);
    await writeFile(file, `${script}\n`);
    this.shell.stdin.write(`source ${file} >${file}.out 2>${file}.err </dev/null; echo >${file}.done\n`);
    const isDone = () => read(`${file}.done`) !== '';
    const all = () => `${read(`${file}.out`)}\n${read(`${file}.err`)}`;
    await until(() => isDone() || this.shell.exitCode !== null, PATIENCE, all);
    if (!isDone()) throw new Error(`A command failed. Printed was:\n${all()}`);
    return read(`${file}.out`);
  }

  /**
   * Starts a block whose last command serves until it is stopped; resolves when it has printed this sign.
   * @returns what it has printed whenever it is asked
   */
  async serve(script: string, sign: string): Promise<() => string> {
    const file = join(this.folder, `service-${++this.count}`);
    await this.run(`export -p >${file}.env`);
    await writeFile(file, `${WATCH}\nsource ${file}.env\nset -euo pipefail\n${script}\n`);
    const service = new Service(script, file, this.cwd);
    this.services.push(service);
    await service.printed(sign);
    return () => service.output;
  }

  /** What the program that this command started has printed by now. */
  servedBy(command: string): string {
    const service = this.services.find(({ script }) => script.includes(command));
    if (service === undefined) throw new Error(`Nothing serves that was started by "${command}".`);
    return service.output;
  }

  /**
   * Stops what serves as Ctrl-C would.
   * @throws Error when a program did not end well
   */
  async stopServices(): Promise<void> {
    const { services } = this;
    this.services = [];
    const outcomes = await Promise.allSettled(services.map((service) => service.stop()));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason as Error;
  }

  async close(): Promise<void> {
    try {
      await this.stopServices();
    } finally {
      this.shell.stdin.end();
      this.shell.kill();
      await rm(this.folder, { recursive: true, force: true });
    }
  }
}

/** A service must not outlive a test run that was killed. It has a process group of its own. */
const WATCH = `( while kill -0 ${process.pid} 2>/dev/null; do sleep 1; done; kill -KILL 0 ) >/dev/null 2>&1 &`;

class Service {
  private readonly child: ChildProcess;
  private how: string | undefined;

  constructor(
    readonly script: string,
    private readonly file: string,
    cwd: string,
  ) {
    const out = openSync(`${file}.out`, 'w');
    this.child = spawn('bash', ['--noprofile', '--norc', file], {
      cwd,
      detached: true,
      env: { PATH: process.env.PATH },
      stdio: ['ignore', out, out],
    });
    closeSync(out);
    this.child.once('exit', (code, signal) => (this.how = signal ?? `exit code ${code ?? 0}`));
  }

  get output(): string {
    return read(`${this.file}.out`);
  }

  async printed(sign: string): Promise<void> {
    await until(
      () => this.output.includes(sign) || this.how !== undefined,
      START_PATIENCE,
      () => this.output,
    );
    if (!this.output.includes(sign))
      throw new Error(`It ended (${this.how ?? ''}) before it said "${sign}":\n${this.output}`);
  }

  /** @throws Error when it had ended before, or doesn't end now */
  async stop(): Promise<void> {
    try {
      if (this.how !== undefined) throw new Error(`It had ended by itself (${this.how}):\n${this.output}`);
      this.signal('SIGINT');
      await until(
        () => this.how !== undefined,
        STOP_PATIENCE,
        () => this.output,
      );
    } finally {
      this.signal('SIGKILL');
    }
  }

  /** To all of the group, as a terminal does. */
  private signal(name: NodeJS.Signals): void {
    try {
      process.kill(-(this.child.pid ?? 0), name);
    } catch {
      // They have ended meanwhile.
    }
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
