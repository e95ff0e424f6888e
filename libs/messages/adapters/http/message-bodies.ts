import {
  IsOptional,
  Validate,
  ValidatorConstraint,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { databaseClock } from '#kernel/clock.js';
import { readItems } from '#platform/http/body/read-items.js';
import { invalidTime, readTime, TIME_SCHEMA } from '#platform/http/body/time.js';
import { bodyModel } from '#platform/http/openapi/body-model.js';
import { Field } from '#platform/http/openapi/operation.js';
import { batchError, MAX_BATCH } from '../../domain/message-batch.js';
import { CONTENT, MessageContent, type ContentValues } from '../../domain/message-content.js';

type ContentField = (typeof CONTENT)[number];
type ContentValue = Parameters<ContentField['error']>[0];

/** The form of a field in JSON. Which values are accepted is decided by the domain. */
const KINDS = {
  text: {
    schema: { type: 'string' },
    read: (value: unknown) => (typeof value === 'string' ? value : null),
    error: (json: string) => `${json} must be a string.`,
  },
  object: {
    schema: { type: 'object' },
    // By name, so that a repeated request is the same whatever order its client has.
    read: (value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
        : null,
    error: (json: string) => `${json} must be an object.`,
  },
  time: { schema: TIME_SCHEMA, read: readTime, error: invalidTime },
} as const;

/** Null for a value that has not the form of the field. */
function read({ kind }: ContentField, value: unknown): ContentValue | null {
  return KINDS[kind].read(value);
}

function fieldError(field: ContentField, value: unknown): string | null {
  if (value === undefined) return `${field.json} is required.`;
  const known = read(field, value);
  return known === null ? KINDS[field.kind].error(field.json) : field.error(known, databaseClock.now());
}

/** The fields that a sender sets, from CONTENT_FIELDS. */
export class SendMessageBody {
  readonly [json: string]: unknown;
}

for (const field of CONTENT) {
  @ValidatorConstraint()
  class Rule implements ValidatorConstraintInterface {
    static readonly schema = { ...KINDS[field.kind].schema, ...field.schema };

    validate(value: unknown): boolean {
      return fieldError(field, value) === null;
    }

    defaultMessage({ value }: ValidationArguments): string {
      return fieldError(field, value) ?? '';
    }
  }
  Validate(Rule)(SendMessageBody.prototype, field.json);
  if (!field.isRequired) IsOptional()(SendMessageBody.prototype, field.json);
  Field({ ...field.sent, examples: [...field.sent.examples] })(SendMessageBody.prototype, field.json);
}

function listError(value: unknown): string | null {
  return Array.isArray(value) ? batchError(value.length) : 'messages must be an array.';
}

@ValidatorConstraint()
class Batch implements ValidatorConstraintInterface {
  static readonly schema = { maxItems: MAX_BATCH, minItems: 1, type: 'array' };

  validate(value: unknown): boolean {
    return listError(value) === null;
  }

  defaultMessage({ value }: ValidationArguments): string {
    return listError(value) ?? '';
  }
}

export class SendBatchBody {
  @Field({
    description: 'The messages. Either all or none are accepted.',
    examples: [[{ message: 'Hello, Sluice' }, { message: 'Hello again' }]],
    items: bodyModel(SendMessageBody),
  })
  @Validate(Batch)
  messages!: unknown[];
}

function valuesOf(body: Readonly<Record<string, unknown>>): ContentValues {
  const values = CONTENT.map((field) => [field.name, read(field, body[field.json])]);
  return Object.fromEntries(values) as ContentValues;
}

/** @throws ValidationError */
export function readMessage(body: SendMessageBody): MessageContent {
  return MessageContent.parse(valuesOf(body), databaseClock.now());
}

/** @throws ValidationError with the first 100 errors */
export function readBatch({ messages }: SendBatchBody): MessageContent[] {
  const bodies = readItems('messages', 'A message', messages, (body, note) => {
    for (const field of CONTENT) {
      const value = body[field.json];
      if (field.isRequired || (value !== undefined && value !== null)) note(field.json, fieldError(field, value));
    }
    return body;
  });
  return bodies.map(readMessage);
}
