import { ValidationError, type FieldError } from '#kernel/domain-error.js';
import { deliverAtError, MAX_DELAY_DAYS } from './delivery-time.js';
import {
  metadataError,
  MAX_METADATA,
  MAX_METADATA_NAME,
  MAX_METADATA_VALUE,
  type Metadata,
} from './message-metadata.js';
import { MAX_TEXT_BYTES, textError } from './message-text.js';
import { messageTypeError, MAX_TYPE, MESSAGE_TYPE } from './message-type.js';
import { MAX_ORDERING_KEY, ORDERING_KEY, orderingKeyError } from './ordering-key.js';

/** The fields that a sender sets, before they are validated. */
export interface ContentValues {
  readonly text: string;
  /** The earliest time of delivery; null for immediately. */
  readonly deliverAt: Date | null;
  /** What the message is about, as words joined by dots: `order.paid`. */
  readonly type: string | null;
  /** Values for the consumer, by name. */
  readonly metadata: Metadata | null;
  /** Messages of an account with the same key are delivered one after another. */
  readonly orderingKey: string | null;
}

declare const checked: unique symbol;

/** The validated fields of a sender. Only `MessageContent.parse` and the store return this type. */
export type MessageContent = ContentValues & { readonly [checked]: true };

interface ContentField<Value> {
  /** Its name in requests, responses, jobs, webhooks, events and `Delivery`. */
  readonly json: string;
  readonly column: string;
  readonly kind: 'text' | 'time' | 'object';
  readonly isRequired: boolean;
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
    isRequired: true,
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
    isRequired: false,
    schema: {},
    sent: {
      description: `When to deliver, up to ${MAX_DELAY_DAYS} days ahead. Immediately if omitted or in the past.`,
      examples: ['2026-11-21T12:00:00Z'],
    },
    returned: { description: 'When to deliver, if it was sent.', examples: ['2026-11-21T12:00:00.000Z'] },
    error: deliverAtError,
  },
  type: {
    json: 'type',
    column: 'type',
    kind: 'text',
    isRequired: false,
    schema: { minLength: 1, maxLength: MAX_TYPE, pattern: MESSAGE_TYPE.source },
    sent: {
      description:
        'What the message is about: words of `[A-Za-z0-9_-]` joined by dots. The first word must not be `sluice`.',
      examples: ['order.paid'],
    },
    returned: { description: 'The type that was sent, if any.', examples: ['order.paid'] },
    error: messageTypeError,
  },
  metadata: {
    json: 'metadata',
    column: 'metadata',
    kind: 'object',
    isRequired: false,
    schema: {
      maxProperties: MAX_METADATA,
      propertyNames: { minLength: 1, maxLength: MAX_METADATA_NAME },
      additionalProperties: { type: 'string', maxLength: MAX_METADATA_VALUE },
    },
    sent: {
      description: `At most ${MAX_METADATA} strings for the consumer, by name. U+0000 and lone surrogates are not allowed.`,
      examples: [{ region: 'eu' }],
    },
    returned: { description: 'The metadata that was sent, if any.', examples: [{ region: 'eu' }] },
    error: metadataError,
  },
  orderingKey: {
    json: 'orderingKey',
    column: 'ordering_key',
    kind: 'text',
    isRequired: false,
    schema: { minLength: 1, maxLength: MAX_ORDERING_KEY, pattern: ORDERING_KEY.source },
    sent: {
      description:
        'Messages of the account with the same key are delivered one after another, in the order in which they were ' +
        'accepted: the next one begins once the one before is `delivered`, `failed` or `cancelled`. 1 to ' +
        `${MAX_ORDERING_KEY} visible ASCII characters.`,
      examples: ['customer-17'],
    },
    returned: { description: 'The ordering key that was sent, if any.', examples: ['customer-17'] },
    error: orderingKeyError,
  },
} as const satisfies { readonly [Name in keyof ContentValues]: ContentField<ContentValues[Name]> };

type Fields = typeof CONTENT_FIELDS;
export type ContentName = keyof Fields;
type NamesWhere<IsRequired> = {
  [Name in ContentName]: Fields[Name]['isRequired'] extends IsRequired ? Name : never;
}[ContentName];

type Json<Value> = Value extends Date ? string : Value;

/** The fields in JSON, without those that the sender omitted. */
export type ContentJson = {
  readonly [Name in NamesWhere<true> as Fields[Name]['json']]: Json<ContentValues[Name]>;
} & { readonly [Name in NamesWhere<false> as Fields[Name]['json']]?: Json<NonNullable<ContentValues[Name]>> };

type Definition = ContentField<NonNullable<ContentValues[ContentName]>> & { readonly name: ContentName };

/** The fields, in order. */
export const CONTENT: readonly Definition[] = Object.entries(CONTENT_FIELDS).map(
  ([name, field]) => ({ ...field, name }) as unknown as Definition,
);

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

export function contentJson(content: ContentValues): ContentJson {
  const json: Record<string, unknown> = {};
  for (const { name, json: key } of CONTENT) {
    const value = content[name];
    if (value !== null) json[key] = value instanceof Date ? value.toISOString() : value;
  }
  return json as ContentJson;
}

/** Reads `contentJson`, as this or an earlier version has written it. */
export function contentOfJson(json: ContentJson): ContentValues {
  const values = json as Readonly<Record<string, unknown>>;
  const content: Record<string, unknown> = {};
  for (const { name, json: key, kind } of CONTENT) {
    const value = values[key] ?? null;
    content[name] = kind === 'time' && value !== null ? new Date(value as string) : value;
  }
  return content as unknown as ContentValues;
}
