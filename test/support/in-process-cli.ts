import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Program } from '../../apps/cli/program.js';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
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

  /** Runs a command to its end. @param isTerminal whether its output goes to a terminal with colours */
  async run(args: readonly string[], isTerminal = false): Promise<Ran> {
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
    }
  }

  remove(): void {
    for (const name of Object.keys(process.env)) if (!(name in this.before)) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, this.before);
    rmSync(this.home, { recursive: true, force: true });
  }
}
