import { tolerateClosedTerminal } from './closed-terminal.js';

let isExpected = false;

/** Ends this process, which has nothing left to do. */
export function exit(code: number): never {
  isExpected = true;
  tolerateClosedTerminal();
  process.exit(code);
}

/** Runs what others wrote. If it ends the process, by `process.exit` or by an error that nothing catches, says so and fails. */
export async function withoutExit<T>(sentence: string, run: () => Promise<T>): Promise<T> {
  const report = (code: number) => {
    if (isExpected) return;
    process.stderr.write(`${sentence}\n`);
    process.exitCode = code || 1;
  };
  process.once('exit', report);
  try {
    return await run();
  } finally {
    process.off('exit', report);
  }
}
