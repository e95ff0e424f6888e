import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Program, until } from '../support/processes.js';

const BLOCK_TIMEOUT_MS = 120_000;
/** Includes a build, if a page changes a source. */
const START_TIMEOUT_MS = 90_000;
const STOP_TIMEOUT_MS = 30_000;

/** A Bash shell that runs the blocks of a page one after another, and the services that they start. */
export class Shell {
  private readonly bash;
  /** Those that run, by their scripts. */
  private readonly services = new Map<string, Program>();
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
  async serve(script: string, ready: string): Promise<Program> {
    const file = join(this.folder, `service-${++this.count}`);
    await this.run(`export -p >${file}.env`);
    await writeFile(file, `${WATCHDOG}\nsource ${file}.env\nset -euo pipefail\n${script}\n`);
    const service = Program.runGroup(file, this.cwd);
    this.services.set(script, service);
    await service.printed(ready, START_TIMEOUT_MS);
    return service;
  }

  /** The running service whose script contains a command. */
  service(command: string): Program {
    const [, service] = [...this.services].find(([script]) => script.includes(command)) ?? [];
    if (service === undefined) throw new Error(`No running service was started by "${command}".`);
    return service;
  }

  /** Stops all services as Ctrl-C would. @throws Error if one had exited before */
  async stopServices(): Promise<void> {
    const services = [...this.services.values()];
    this.services.clear();
    const deaths = services.flatMap((service) => service.deaths);
    for (const service of services) service.signal('SIGINT');
    await Promise.all(services.map((service) => service.ended(STOP_TIMEOUT_MS))).finally(() => {
      for (const service of services) service.signal('SIGKILL');
    });
    if (deaths.length > 0) throw new Error(deaths.join('\n'));
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

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
