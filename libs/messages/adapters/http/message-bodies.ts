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
import { bodyModel } from '#platform/http/openapi/body-model.js';
import { Field } from '#platform/http/openapi/operation.js';
import { invalidTime, readTime, Time, TIME_SCHEMA } from '#platform/http/body/time.js';
import { MAX_BATCH } from '../../application/sending/send-batch.js';
import { deliverAtError, MAX_DELAY_DAYS } from '../../domain/delivery-time.js';
import type { NewMessage } from '../../domain/message.js';
import { MAX_TEXT_BYTES, textError } from '../../domain/message-text.js';
import { readItems } from '#platform/http/body/read-items.js';

/*
 * The only place where input for messages is validated, before a batch is counted against the account's limits.
 */

function messageError(value: unknown): string | null {
  if (value === undefined) return 'message is required.';
  return typeof value === 'string' ? textError(value) : 'message must be a string.';
}

@ValidatorConstraint()
class MessageText implements ValidatorConstraintInterface {
  // A character is at least one byte, and JSON Schema can't count bytes.
  static readonly schema = { type: 'string', minLength: 1, maxLength: MAX_TEXT_BYTES, pattern: '^[^\\u0000]*$' };

  validate(value: unknown): boolean {
    return messageError(value) === null;
  }

  defaultMessage({ value }: ValidationArguments): string {
    return messageError(value) ?? '';
  }
}

function timeError(value: unknown): string | null {
  const time = readTime(value);
  return time === null ? invalidTime('deliverAt') : deliverAtError(time, new Date());
}

@ValidatorConstraint()
class DeliveryTime implements ValidatorConstraintInterface {
  static readonly schema = TIME_SCHEMA;

  validate(value: unknown): boolean {
    return timeError(value) === null;
  }

  defaultMessage({ value }: ValidationArguments): string {
    return timeError(value) ?? '';
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
    description: `When to deliver, up to ${MAX_DELAY_DAYS} days ahead. Immediately if omitted or in the past.`,
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
  @ArrayMaxSize(MAX_BATCH, { message: `messages must have at most ${MAX_BATCH} items.` })
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

/** @throws ValidationError with the first 100 errors */
export function readBatch({ messages }: SendBatchBody): NewMessage[] {
  const bodies = readItems('messages', 'A message', messages, ({ message, deliverAt = null }, note) => {
    note('message', messageError(message));
    note('deliverAt', deliverAt === null ? null : timeError(deliverAt));
    return { message, deliverAt } as SendMessageBody;
  });
  return bodies.map(readMessage);
}
