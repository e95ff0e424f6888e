import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/processes.js';

const BLOCK_TIMEOUT_MS = 120_000;
/** Includes a build, if a page changes a source. */
const START_TIMEOUT_MS = 90_000;
const STOP_TIMEOUT_MS = 30_000;

/** A Bash shell that runs the blocks of a page one after another, and the services that they start. */
export class Shell {
  private readonly bash;
  private services: Service[] = [];
  private count = 0;

  /** @param folder for scripts and their output, outside of the working directory */
  private constructor(
    private readonly cwd: string,
    env: Readonly<Record<string, string>>,
    private readonly folder: string,
  ) {
    this.bash = spawn('bash', ['--noprofile', '--norc'], { cwd, env, stdio: ['pipe', 'ignore', 'ignore'] });
    // After the shell has exited, the next block reports it.
    this.bash.stdin.on('error', () => undefined);
    this.bash.stdin.write('set -euo pipefail\n');
  }

  static async open(cwd: string, env: Readonly<Record<string, string>>): Promise<Shell> {
    return new Shell(cwd, env, await mkdtemp(join(tmpdir(), 'sluice-docs-shell-')));
  }

  /** Runs a block in this shell, so that later blocks see its variables. @returns its standard output */
  async run(script: string): Promise<string> {
    const file = join(this.folder, `block-${++this.count}`);
    await writeFile(file, `${script}\n`);
    this.bash.stdin.write(`source ${file} >${file}.out 2>${file}.err </dev/null; echo >${file}.done\n`);
    const isDone = () => read(`${file}.done`) !== '';
    const output = () => `${read(`${file}.out`)}\n${read(`${file}.err`)}`;
    await until(() => isDone() || this.bash.exitCode !== null, BLOCK_TIMEOUT_MS, output);
    if (!isDone()) throw new Error(`A command failed. Output:\n${output()}`);
    return read(`${file}.out`);
  }

  /** Starts a block whose last command keeps running. Resolves when it has printed a text. */
  async serve(script: string, ready: string): Promise<Service> {
    const file = join(this.folder, `service-${++this.count}`);
    await this.run(`export -p >${file}.env`);
    await writeFile(file, `${WATCHDOG}\nsource ${file}.env\nset -euo pipefail\n${script}\n`);
    const service = new Service(script, file, this.cwd);
    this.services.push(service);
    await service.waitFor(ready);
    return service;
  }

  /** The running service whose script contains a command. */
  service(command: string): Service {
    const service = this.services.find(({ script }) => script.includes(command));
    if (service === undefined) throw new Error(`No running service was started by "${command}".`);
    return service;
  }

  /** Stops all services as Ctrl-C would. @throws Error if one had exited before */
  async stopServices(): Promise<void> {
    const outcomes = await Promise.allSettled(this.services.map((service) => service.stop()));
    this.services = [];
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason as Error;
  }

  async close(): Promise<void> {
    try {
      await this.stopServices();
    } finally {
      this.bash.stdin.end();
      this.bash.kill();
      await rm(this.folder, { recursive: true, force: true });
    }
  }
}

/** Ends the process group of a service when the test run is killed. */
const WATCHDOG = `( while kill -0 ${process.pid} 2>/dev/null; do sleep 1; done; kill -KILL 0 ) >/dev/null 2>&1 &`;

class Service {
  output = '';
  private readonly child;
  private exit: string | undefined;

  constructor(
    readonly script: string,
    file: string,
    cwd: string,
  ) {
    const env = { PATH: process.env.PATH };
    this.child = spawn('bash', ['--noprofile', '--norc', file], { cwd, env, detached: true });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
    this.child.once('exit', (code, signal) => (this.exit = signal ?? `exit code ${code ?? 0}`));
  }

  async waitFor(text: string): Promise<void> {
    const printed = () => this.output.includes(text);
    await until(
      () => printed() || this.exit !== undefined,
      START_TIMEOUT_MS,
      () => this.output,
    );
    if (!printed())
      throw new Error(`The service exited (${this.exit ?? ''}) before it printed "${text}":\n${this.output}`);
  }

  async stop(): Promise<void> {
    try {
      if (this.exit !== undefined) throw new Error(`The service exited early (${this.exit}):\n${this.output}`);
      this.signal('SIGINT');
      await until(
        () => this.exit !== undefined,
        STOP_TIMEOUT_MS,
        () => this.output,
      );
    } finally {
      this.signal('SIGKILL');
    }
  }

  /** Signals the whole process group, as a terminal does. */
  private signal(name: NodeJS.Signals): void {
    try {
      process.kill(-(this.child.pid ?? 0), name);
    } catch {
      // All processes of the group have exited.
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
