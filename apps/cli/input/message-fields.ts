import { InvalidArgumentError, Option, type Command } from 'commander';
import type { NewMessage } from '#client/index.js';

/** What a message can have besides its text and its time. */
export interface MessageFields {
  readonly type?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly orderingKey?: string;
}

const TYPE = /^[\w-]+(\.[\w-]+)*$/;

/** A parser of a type. The service knows which are reserved, and how long they may be. */
export function messageType(text: string): string {
  if (TYPE.test(text)) return text;
  throw new InvalidArgumentError('It must be words of letters, digits, _ and - joined by dots, such as order.paid.');
}

/** A parser of a type, or of words and `*`. */
export function typeFilter(text: string): string {
  if (TYPE.test(text) || (text.endsWith('.*') && TYPE.test(text.slice(0, -2)))) return text;
  throw new InvalidArgumentError('It must be a type such as order.paid, or order.* for all that begin so.');
}

export const typeFilterOption = (what: string): Option =>
  new Option('-t, --type <type>', `only ${what} of this type; order.* is all types that begin so`).argParser(
    typeFilter,
  );

/** Whether a filter that `typeFilter` has read selects a type. */
export function selects(filter: string, type: string | undefined): boolean {
  if (type === undefined) return false;
  return filter.endsWith('*') ? type.startsWith(filter.slice(0, -1)) : type === filter;
}

function orderingKey(text: string): string {
  if (/^[!-~]{1,128}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be 1 to 128 visible ASCII characters without spaces.');
}

function pair(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be a name and a value, such as region=eu.');
  // By entries: a name such as __proto__ is one like any other.
  return Object.fromEntries([...Object.entries(before), [text.slice(0, at), text.slice(at + 1)]]);
}

export function addFieldOptions(command: Command): Command {
  return command
    .option('-t, --type <type>', 'what the message is about, such as order.paid', messageType)
    .addOption(new Option('-m, --metadata <name=value>', 'a value for the consumer; may be repeated').argParser(pair))
    .option('--ordering-key <key>', 'deliver messages with the same key one after another', orderingKey);
}

export function fieldsOf({ type, metadata, orderingKey }: MessageFields): Omit<NewMessage, 'message'> {
  return {
    ...(type !== undefined && { type }),
    ...(metadata !== undefined && { metadata: { ...metadata } }),
    ...(orderingKey !== undefined && { orderingKey }),
  };
}
