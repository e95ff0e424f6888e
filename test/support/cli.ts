import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, until } from './processes.js';

interface Invocation {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
}

interface Ended {
  readonly code: number | NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export const CLI_SCRIPT = join(ROOT, 'dist/apps/cli/main.js');

/** The command line with a home of its own. Construct it in `beforeAll`, and `remove` it in `afterAll`. */
export class Cli {
  readonly home = mkdtempSync(join(tmpdir(), 'sluice-cli-'));
  private readonly children = new Set<RunningCommand>();

  constructor(private readonly settings: Readonly<Record<string, string>>) {}

  /** Nothing of the caller's environment must leak into a test. */
  get env(): Record<string, string> {
    const { PATH = '' } = process.env;
    const [XDG_CONFIG_HOME, XDG_STATE_HOME] = [join(this.home, 'config'), join(this.home, 'state')];
    return { PATH, HOME: this.home, XDG_CONFIG_HOME, XDG_STATE_HOME, ...this.settings };
  }

  get credentials(): string {
    return join(this.home, 'config', 'sluice', 'credentials.json');
  }

  file(name: string, content: string | Buffer): string {
    const path = join(this.home, name);
    writeFileSync(path, content);
    return path;
  }

  /** Runs a command to its end. */
  run(args: readonly string[], invocation?: Invocation): Promise<Ended> {
    return this.start(args, invocation).ended();
  }

  /** Runs a command that must succeed. @returns the JSON that it prints */
  async json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.run([...args, '--json']);
    if (code !== 0) throw new Error(`sluice ${args.join(' ')} ended with ${String(code)}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  start(args: readonly string[], { input, env }: Invocation = {}): RunningCommand {
    const child = spawn(process.execPath, [CLI_SCRIPT, ...args], { env: { ...this.env, ...env }, cwd: this.home });
    child.stdin.on('error', () => undefined).end(input ?? '');
    const running = new RunningCommand(child);
    this.children.add(running);
    return running;
  }

  remove(): void {
    for (const child of this.children) child.signal('SIGKILL');
    rmSync(this.home, { recursive: true, force: true });
  }
}

class RunningCommand {
  stdout = '';
  stderr = '';
  private isClosed = false;

  constructor(private readonly child: ChildProcess) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    child.on('close', () => (this.isClosed = true));
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Resolves when it has printed this on either stream. */
  async printed(text: string | RegExp): Promise<void> {
    const has = () => `${this.stdout}\n${this.stderr}`.match(text) !== null;
    await this.until(() => has() || this.isClosed);
    if (!has()) throw new Error(`It ended without printing ${String(text)}:\n${this.stdout}\n${this.stderr}`);
  }

  async ended(): Promise<Ended> {
    await this.until(() => this.isClosed);
    const { stdout, stderr, child } = this;
    return { code: child.exitCode ?? child.signalCode, stdout, stderr };
  }

  private until(condition: () => boolean): Promise<void> {
    return until(condition, 120_000, () => `${this.stdout}\n${this.stderr}`);
  }
}
