import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Program } from '../../apps/cli/program.js';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Invocation {
  /** Whether its output goes to a terminal with colours. */
  readonly isTerminal?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** The commands for all tests of a block. @param env read when they begin */
export function inProcessCli(env: () => Readonly<Record<string, string>>): Pick<InProcessCli, 'run' | 'json'> {
  let cli: InProcessCli;
  beforeAll(() => {
    cli = new InProcessCli(env());
  });
  afterAll(() => {
    cli.remove();
  });
  return { run: (...args) => cli.run(...args), json: (...args) => cli.json(...args) };
}

/** The commands in the process of the test, which takes milliseconds. Construct it in `beforeAll`, and `remove` it in `afterAll`. */
export class InProcessCli {
  readonly home = mkdtempSync(join(tmpdir(), 'sluice-cli-'));
  private readonly before = { ...process.env };

  constructor(env: Readonly<Record<string, string>>) {
    Object.assign(process.env, {
      XDG_CONFIG_HOME: join(this.home, 'config'),
      XDG_STATE_HOME: join(this.home, 'state'),
      ...env,
    });
  }

  /** Runs a command to its end. */
  async run(args: readonly string[], { isTerminal = false, env = {} }: Invocation = {}): Promise<Ran> {
    const before = { ...process.env };
    Object.assign(process.env, env);
    const written = { stdout: '', stderr: '' };
    const { stdout, stderr, exitCode } = process;
    const restore = (['stdout', 'stderr'] as const).map((name) => {
      const stream = { stdout, stderr }[name];
      const spy = jest.spyOn(stream, 'write').mockImplementation((text) => {
        written[name] += String(text);
        return true;
      });
      const values = { isTTY: isTerminal, hasColors: () => isTerminal };
      const own = Object.keys(values).map((key) => [key, Object.getOwnPropertyDescriptor(stream, key)] as const);
      for (const [key, value] of Object.entries(values))
        Object.defineProperty(stream, key, { value, configurable: true });
      return () => {
        spy.mockRestore();
        for (const [key, descriptor] of own) {
          if (descriptor === undefined) Reflect.deleteProperty(stream, key);
          else Object.defineProperty(stream, key, descriptor);
        }
      };
    });
    try {
      process.exitCode = undefined;
      const code = (await new Program(args).run()) ?? process.exitCode ?? 0;
      return { code, ...written };
    } finally {
      process.exitCode = exitCode;
      for (const undo of restore) undo();
      restoreEnvironment(before);
    }
  }

  /** Runs a command that must succeed. @returns the JSON that it prints */
  async json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.run([...args, '--json']);
    if (code !== 0) throw new Error(`sluice ${args.join(' ')} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  remove(): void {
    restoreEnvironment(this.before);
    rmSync(this.home, { recursive: true, force: true });
  }
}

function restoreEnvironment(before: Readonly<NodeJS.ProcessEnv>): void {
  for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, before);
}
