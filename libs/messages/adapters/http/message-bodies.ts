import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsOptional,
  Validate,
  ValidatorConstraint,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { ValidationError, type FieldError } from '#kernel/domain-error.js';
import { bodyModel } from '#platform/http/openapi/body-model.js';
import { Field } from '#platform/http/openapi/operation.js';
import { notATime, readTime, Time, TIME_SCHEMA } from '#platform/http/time.js';
import { deliverAtFault } from '../../domain/delivery-time.js';
import type { NewMessage } from '../../domain/message.js';
import { MAX_TEXT_BYTES, textFault } from '../../domain/message-text.js';

const MAX_BATCH = 1_000;
/** Faults of a batch that are named; who has more of them has one in all messages. */
const MAX_FAULTS = 100;

function messageFault(value: unknown): string | null {
  if (value === undefined) return 'message is required.';
  return typeof value === 'string' ? textFault(value) : 'message must be a string.';
}

/** The domain's rule for a message's text, as a rule of a body. */
@ValidatorConstraint()
class MessageText implements ValidatorConstraintInterface {
  // A character is one byte at least, and JSON Schema can't count bytes.
  static readonly schema = { type: 'string', minLength: 1, maxLength: MAX_TEXT_BYTES, pattern: '^[^\\u0000]*$' };

  validate(value: unknown): boolean {
    return messageFault(value) === null;
  }

  defaultMessage({ value }: ValidationArguments): string {
    return messageFault(value) ?? '';
  }
}

function timeFault(value: unknown): string | null {
  const time = readTime(value);
  return time === null ? notATime('deliverAt') : deliverAtFault(time, new Date());
}

/** The domain's rule for the time of delivery, as a rule of a body. */
@ValidatorConstraint()
class DeliveryTime implements ValidatorConstraintInterface {
  static readonly schema = TIME_SCHEMA;

  validate(value: unknown): boolean {
    return timeFault(value) === null;
  }

  defaultMessage({ value }: ValidationArguments): string {
    return timeFault(value) ?? '';
  }
}

export class SendMessageBody {
  @Field({
    description: `1 to ${MAX_TEXT_BYTES} bytes of UTF-8, stored unchanged. U+0000 and lone surrogates are not allowed.`,
    examples: ['Hello, Sluice'],
  })
  @Validate(MessageText)
  message!: string;

  @Field({
    description: 'When to deliver, up to 30 days ahead. Immediately if omitted, null or in the past.',
    examples: ['2026-11-21T12:00:00Z'],
  })
  @IsOptional()
  @Validate(DeliveryTime)
  deliverAt?: string | null;
}

export class SendBatchBody {
  @Field({
    description: 'The messages. Either all or none are accepted.',
    examples: [[{ message: 'Hello, Sluice' }, { message: 'Hello again' }]],
    items: bodyModel(SendMessageBody),
  })
  @ArrayMaxSize(MAX_BATCH, { message: `messages must be at most ${MAX_BATCH} messages.` })
  @ArrayMinSize(1, { message: 'messages must not be empty.' })
  @IsArray({ message: 'messages must be an array.' })
  messages!: unknown[];
}

export class RetryFailedBody {
  @Field({ description: 'The start of the period, inclusive.', examples: ['2026-11-21T09:00:00Z'] })
  @Validate(Time)
  since!: string;

  @Field({ description: 'The end of the period, exclusive.', examples: ['2026-11-21T10:00:00Z'] })
  @Validate(Time)
  until!: string;
}

export function readMessage({ message, deliverAt = null }: SendMessageBody): NewMessage {
  return { text: message, deliverAt: deliverAt === null ? null : new Date(deliverAt) };
}

/**
 * The messages of a batch. Checked by hand: a thousand instances of a class would cost more than all the rest.
 * @throws ValidationError that names each fault
 */
export function readBatch({ messages }: SendBatchBody): NewMessage[] {
  const errors: FieldError[] = [];
  const note = (pointer: string, detail: string | null) => {
    if (detail !== null) errors.push({ pointer: `/messages/${pointer}`, detail });
  };
  const bodies = messages.map((item, index) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      note(`${index}`, 'A message must be an object.');
      return null;
    }
    // Without a prototype, so that only its own fields are seen.
    const { message, deliverAt = null } = Object.assign(Object.create(null), item) as Record<string, unknown>;
    note(`${index}/message`, messageFault(message));
    note(`${index}/deliverAt`, deliverAt === null ? null : timeFault(deliverAt));
    return { message, deliverAt } as SendMessageBody;
  });
  if (errors.length > 0) throw new ValidationError(errors.slice(0, MAX_FAULTS));
  return bodies.filter((body) => body !== null).map(readMessage);
}
