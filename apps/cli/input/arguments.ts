import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import { fileError } from '../files/private-file.js';
import { EXIT } from '../support/exit-codes.js';

/** A parser of a whole number within a range. */
export function integer(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    if (!/^\d{1,16}$/.test(text) || Number(text) < minimum || Number(text) > maximum) {
      throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
    }
    return Number(text);
  };
}

/** A parser of a text that says something. */
export function filled(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}

/** A parser of the name of an account or a key. */
export function validName(text: string): string {
  if (text.trim() !== '' && Array.from(text).length <= 100) return text;
  throw new InvalidArgumentError('It must have 1 to 100 characters.');
}

/** A parser of the name of a plan. */
export function planName(text: string): string {
  if (/^[a-z0-9-]{1,40}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be 1 to 40 of a-z, 0-9 and -.');
}

/** A parser of values that are sent in a header. */
export function visibleAscii(text: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be 1 to 255 visible ASCII characters without spaces.');
}

/** The kinds of things that have ids, by prefix. */
const KINDS = { acct: 'an account', ep: 'an endpoint', key: 'a key', msg: 'a message' } as const;

/** A parser of the id of such a thing. The service knows whether it exists. */
export function id(prefix: keyof typeof KINDS): (text: string) => string {
  return (text) => {
    if (new RegExp(`^${prefix}_\\w{1,64}$`).test(text)) return text;
    throw new InvalidArgumentError(
      `It must be the id of ${KINDS[prefix]}, such as ${prefix}_01m7z3xhqzeywbegcvm7ee64q0.`,
    );
  };
}

/** The argument of a command that takes ids, one or `<id...>`. */
export function idArgument(prefix: keyof typeof KINDS, flags = '<id>'): Argument {
  const argument = new Argument(flags);
  const parse = id(prefix);
  return argument.variadic
    ? argument.argParser<string[] | undefined>((text, before = []) => [...before, parse(text)])
    : argument.argParser(parse);
}

/** `--limit` of a list. */
export function limitOption(fallback: number): Option {
  return new Option('-n, --limit <n>', 'how many at most').argParser(integer(1, 1e9)).default(fallback);
}

/** A file that cannot be read is a wrong argument. */
export async function readable<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw fileError(path, 'read', error, EXIT.usage);
  }
}

/** Shows examples at the end of the help of a command. */
export function withExamples(command: Command, ...examples: readonly string[]): Command {
  const lines = examples.map((example) => `  $ ${example}`).join('\n');
  return command.addHelpText('after', `\nExamples:\n${lines}`);
}
