import { ValidationError, type FieldError } from '#kernel/domain-error.js';
import { deliverAtError, MAX_DELAY_DAYS } from './delivery-time.js';
import { MAX_TEXT_BYTES, textError } from './message-text.js';

/** The fields that a sender sets, before they are validated. */
export interface ContentValues {
  readonly text: string;
  /** The earliest time of delivery; null for immediately. */
  readonly deliverAt: Date | null;
}

declare const checked: unique symbol;

/** The validated fields of a sender. Only `MessageContent.parse` and the store return this type. */
export type MessageContent = ContentValues & { readonly [checked]: true };

interface ContentField<Value> {
  /** Its name in requests, responses, jobs, webhooks, events and `Delivery`. */
  readonly json: string;
  readonly column: string;
  readonly kind: 'text' | 'time';
  /** Whether it is shown wherever the message is, only if it is not null, or only with the state of the message. */
  readonly shown: 'always' | 'if present' | 'with the state';
  /** The part of its rule that JSON Schema can express. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Its descriptions in requests and in responses, each with an example. */
  readonly sent: Documentation;
  readonly returned: Documentation;
  /** Why a value is refused, as a sentence for the sender; null when it is accepted. */
  readonly error: (value: NonNullable<Value>, now: Date) => string | null;
}

interface Documentation {
  readonly description: string;
  readonly examples: readonly unknown[];
}

/**
 * All fields of a message that a sender sets. Requests, rows, jobs and responses are derived from this table; a new
 * field also needs a migration that adds its column.
 */
export const CONTENT_FIELDS = {
  text: {
    json: 'message',
    column: 'text',
    kind: 'text',
    shown: 'always',
    // A character is at least one byte, and JSON Schema can't count bytes.
    schema: { minLength: 1, maxLength: MAX_TEXT_BYTES, pattern: '^[^\\u0000]*$' },
    sent: {
      description: `1 to ${MAX_TEXT_BYTES} bytes of UTF-8, stored unchanged. U+0000 and lone surrogates are not allowed.`,
      examples: ['Hello, Sluice'],
    },
    returned: { description: 'The text, exactly as it was sent.', examples: ['Hello, Sluice'] },
    error: textError,
  },
  deliverAt: {
    json: 'deliverAt',
    column: 'deliver_at',
    kind: 'time',
    shown: 'with the state',
    schema: {},
    sent: {
      description: `When to deliver, up to ${MAX_DELAY_DAYS} days ahead. Immediately if omitted or in the past.`,
      examples: ['2026-11-21T12:00:00Z'],
    },
    returned: { description: 'When to deliver. Null for immediate delivery.', examples: [null] },
    error: deliverAtError,
  },
} as const satisfies { readonly [Name in keyof ContentValues]: ContentField<ContentValues[Name]> };

type Fields = typeof CONTENT_FIELDS;
export type ContentName = keyof Fields;
type NamesShown<Shown> = {
  [Name in ContentName]: Fields[Name]['shown'] extends Shown ? Name : never;
}[ContentName];

/** The fields that consumers get: the ones that are always shown. */
export type ConsumedContent = Pick<ContentValues, NamesShown<'always' | 'if present'>>;

type Json<Value> = Value extends Date ? string : Value;

/** The same in JSON. */
export type ContentJson = {
  readonly [Name in NamesShown<'always'> as Fields[Name]['json']]: Json<ContentValues[Name]>;
} & { readonly [Name in NamesShown<'if present'> as Fields[Name]['json']]?: Json<NonNullable<ContentValues[Name]>> };

/** The fields that are shown only with the state; null if the sender omitted them. */
export type StateContent = {
  readonly [Name in NamesShown<'with the state'> as Fields[Name]['json']]: ContentValues[Name];
};

type Definition = ContentField<NonNullable<ContentValues[ContentName]>> & { readonly name: ContentName };

/** The fields, in order. */
export const CONTENT: readonly Definition[] = Object.entries(CONTENT_FIELDS).map(
  ([name, field]) => ({ ...field, name }) as unknown as Definition,
);
/** The fields that consumers get. */
export const CONSUMED = CONTENT.filter(({ shown }) => shown !== 'with the state');
const SHOWN_WITH_STATE = CONTENT.filter(({ shown }) => shown === 'with the state');

export const MessageContent = {
  /** @throws ValidationError with an error for each value that is refused */
  parse(values: Pick<ContentValues, 'text'> & Partial<ContentValues>, now: Date): MessageContent {
    const errors: FieldError[] = [];
    const content: Record<string, unknown> = {};
    for (const { name, json, error } of CONTENT) {
      const value = values[name] ?? null;
      content[name] = value;
      const detail = value === null ? null : error(value, now);
      if (detail !== null) errors.push({ pointer: `/${json}`, detail });
    }
    if (errors.length > 0) throw new ValidationError(errors);
    return content as unknown as MessageContent;
  },
};

/** The JSON of the fields that consumers get. */
export function contentJson(content: ConsumedContent): ContentJson {
  const json: Record<string, unknown> = {};
  for (const { name, json: key } of CONSUMED) {
    const value = content[name as keyof ConsumedContent] as unknown;
    if (value !== null) json[key] = value;
  }
  return json as ContentJson;
}

/** Reads `contentJson`, as this or an earlier version has written it. */
export function contentOfJson(json: ContentJson): ConsumedContent {
  const values = json as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    CONSUMED.map(({ name, json: key }) => [name, values[key] ?? null]),
  ) as unknown as ConsumedContent;
}

export function stateContent(content: ContentValues): StateContent {
  return Object.fromEntries(SHOWN_WITH_STATE.map(({ name, json }) => [json, content[name]])) as unknown as StateContent;
}

/** The size of the content of a message, in bytes of UTF-8. */
export function contentBytes(content: ContentValues): number {
  let bytes = 0;
  for (const { name, kind } of CONTENT) {
    const value = content[name];
    if (kind === 'text' && value !== null) bytes += Buffer.byteLength(value as string);
  }
  return bytes;
}
