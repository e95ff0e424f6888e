import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { Fleet } from '../support/fleet.js';
import { ROOT, until, type Program } from '../support/processes.js';

/** At SIGUSR1. */
const CANCELS_LOOP = `import asyncio, signal
 cancel = lambda: [task.cancel() for task in asyncio.all_tasks() if "Worker.run" in repr(task)]
 asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, cancel)`;

const NO_REASON = 'The worker reported no reason.';

/** Runs a message instead of printing it: how, and what throws or returns what cannot be stored, with its reason. */
const ENDS: Readonly<Record<string, { run: string; code: [string, string | null][] }>> = {
  JavaScript: {
    run: '  return await Function(message)();\n',
    code: [
      [String.raw`throw new Error('a\0b')`, 'ab'],
      [String.raw`throw new Error('a\ud800')`, 'a\ufffd'],
      [String.raw`throw Object.assign(new Error('a'), { stack: 'b\0\udc00' })`, 'a'],
      [String.raw`throw Object.freeze(new Error('a\0'))`, 'a'],
      [String.raw`throw new DOMException('a\0', 'AbortError')`, 'a'],
      ['throw undefined', NO_REASON],
      ['throw null', NO_REASON],
      ['return Promise.reject()', NO_REASON],
      [String.raw`throw 'a\0'`, 'a'],
      ["throw Symbol('a')", 'Symbol(a)'],
      [String.raw`return 'a\0'`, null],
      [String.raw`return { a: '\ud800' }`, null],
      ['return 1n', null],
      ['const a = {}; return (a.a = a)', null],
    ],
  },
  Python: {
    run: '    scope = {}\n    exec("def run():\\n " + job.data["message"], scope)\n    return scope["run"]()\n',
    code: [
      [String.raw`raise ValueError("a\x00b")`, 'ab'],
      [String.raw`raise ValueError("a\ud800")`, 'a'],
      [String.raw`raise ValueError("a") from ValueError("\x00")`, 'a'],
      [String.raw`return "a\x00"`, null],
      [String.raw`return {"a": "\ud800"}`, null],
      ['return b"a"', null],
      [CANCELS_LOOP, null],
      ['import asyncio\n raise asyncio.CancelledError()', 'CancelledError'],
      ['raise BaseException("a")', 'a'],
      ['raise GeneratorExit', 'GeneratorExit'],
      ['class Mute(Exception):\n  __str__ = None\n raise Mute', 'Mute'],
    ],
  },
};

/**
 * The languages in which there is an example of a worker: its file, its interpreter, and why that cannot run it.
 * @param imports the modules that the worker in Python imports
 * @param requirement the package that has them
 */
export function workerLanguages(imports: string, requirement: string) {
  const python = process.env.PYTHON ?? 'python3';
  let missing: string | null = null;
  try {
    execFileSync(python, ['-c', `import ${imports}`], { stdio: 'pipe' });
  } catch {
    missing = `${python} lacks ${requirement}: pip install '${requirement}==3.4.4'`;
  }
  return [
    ['JavaScript', 'worker.mjs', process.execPath, null],
    ['Python', 'worker.py', python, missing],
  ] as const;
}

/** Starts a worker that runs the texts of messages as code. */
export function runsMessages(
  fleet: Fleet,
  script: string,
  language: string,
  interpreter: string,
  settings: Readonly<Record<string, string>> = {},
): Program {
  const file = fleet.file(basename(script));
  const program = readFileSync(join(ROOT, script), 'utf8');
  writeFileSync(file, program.replace(/^ +(?:\/\/|#) Your work.*\n/m, ENDS[language]?.run ?? ''));
  const modules = fleet.file('node_modules');
  if (!existsSync(modules)) symlinkSync(join(ROOT, 'node_modules'), modules);
  return fleet.start(relative(ROOT, file), settings, interpreter);
}

export async function endsEveryAttempt(fleet: Fleet, worker: Program, language: string): Promise<void> {
  const { code = [] } = ENDS[language] ?? {};
  const ids = await Promise.all(code.map(([message]) => fleet.send(message)));
  for (const [index, [message, failureReason]] of code.entries()) {
    const id = ids[index] ?? '';
    const status = failureReason === null ? 'delivered' : 'failed';
    await until(fleet.has(id, status), 20_000, () => message);
    expect(await fleet.message(id)).toMatchObject({ attempts: failureReason === null ? 1 : 2, failureReason });
  }
  if (language === 'Python') {
    // It must not go on without taking jobs.
    worker.signal('SIGUSR1');
    expect(await worker.ended()).toBe(1);
    expect(worker.output).toContain('ended by itself');
  } else expect(await worker.end()).toBe(0);
}
