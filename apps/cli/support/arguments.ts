import { InvalidArgumentError, Option, type Command } from 'commander';
import { CliError, EXIT } from './exit-codes.js';

/** A parser of a whole number within a range. */
export function integer(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    if (!/^\d{1,15}$/.test(text) || Number(text) < minimum || Number(text) > maximum) {
      throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
    }
    return Number(text);
  };
}

/** Times are sent to the service as RFC 3339 in UTC, whatever the user's notation. */
export function instant(text: string): string {
  if (!/^\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?$/.test(text) || Number.isNaN(Date.parse(text))) {
    throw new InvalidArgumentError('It must be a time such as 2026-11-21T09:30:00Z.');
  }
  return new Date(text).toISOString();
}

/** `--limit` of a list. */
export function limitOption(fallback: number): Option {
  return new Option('-n, --limit <n>', 'how many at most').argParser(integer(1, 1e9)).default(fallback);
}

/** A file that cannot be read is a wrong argument. */
export async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new CliError(`The file cannot be read: ${(error as Error).message}.`, EXIT.usage);
  }
}

/** Shows examples at the end of the help of a command. */
export function withExamples(command: Command, ...examples: readonly string[]): Command {
  const lines = examples.map((example) => `  $ ${example}`).join('\n');
  return command.addHelpText('after', `\nExamples:\n${lines}`);
}
