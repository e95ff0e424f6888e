import { fork, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { NODE_FLAGS } from '#platform/process/node-flags.js';

const TIMEOUT_MS = 30_000;

/** A child process that sends `ready` to its parent when it serves and exits on SIGTERM. */
export class Program {
  private constructor(
    readonly child: ChildProcess,
    private readonly ended: Promise<string>,
  ) {}

  /**
   * @param script relative to the build, such as `apps/api/main.js`
   * @param env its environment variables, besides PATH, HOME and NODE_ENV
   * @param log the file its output is written to
   * @throws Error with the end of the log when it does not start
   */
  static async start(script: string, env: Readonly<Record<string, string>>, log: string): Promise<Program> {
    const { PATH = '', HOME = '' } = process.env;
    const output = openSync(log, 'a');
    const child = fork(fileURLToPath(new URL(`../../${script}`, import.meta.url)), {
      env: { PATH, HOME, NODE_ENV: 'production', ...env },
      execArgv: [...NODE_FLAGS],
      serialization: 'advanced',
      stdio: ['ignore', output, output, 'ipc'],
    });
    closeSync(output);
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => {
        resolve(error.message);
      });
      child.once('exit', (code, signal) => {
        resolve(signal ?? `exit code ${code ?? 0}`);
      });
    });
    const ready = new Promise<true>((resolve) => {
      child.on('message', (message) => {
        if (message === 'ready') resolve(true);
      });
    });
    const how = await Promise.race([ready, ended]);
    if (how === true) return new Program(child, ended);
    throw new Error(`${script} did not start (${how}):\n${readFileSync(log, 'utf8').slice(-2_000)}`);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Rejects when the process exits unexpectedly. */
  async died(): Promise<never> {
    throw new Error(`A process under test ended (${await this.ended}).`);
  }

  /** Resolves with the next object that the process sends. Rejects when it exits. */
  async next<T extends object>(): Promise<T> {
    const sent = new Promise<T>((resolve) => {
      const take = (message: unknown) => {
        if (typeof message !== 'object') return;
        this.child.off('message', take);
        resolve(message as T);
      };
      this.child.on('message', take);
    });
    return Promise.race([sent, this.died()]);
  }

  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), TIMEOUT_MS);
    await this.ended;
    clearTimeout(timer);
  }
}
