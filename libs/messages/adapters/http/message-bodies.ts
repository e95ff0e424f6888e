import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  Validate,
  ValidatorConstraint,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { ValidationError, type FieldFault } from '#kernel/domain-error.js';
import { textFault } from '../../domain/message-text.js';

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
  validate(value: unknown): boolean {
    return messageFault(value) === null;
  }

  defaultMessage({ value }: ValidationArguments): string {
    return messageFault(value) ?? '';
  }
}

export class SendMessageBody {
  @Validate(MessageText)
  message!: string;
}

export class SendBatchBody {
  @ArrayMaxSize(MAX_BATCH, { message: `messages must be at most ${MAX_BATCH} messages.` })
  @ArrayMinSize(1, { message: 'messages must not be empty.' })
  @IsArray({ message: 'messages must be an array.' })
  messages!: unknown[];
}

/**
 * The texts of a batch. Checked by hand: a thousand instances of a class would cost more than all the rest.
 * @throws ValidationError that names each message at fault
 */
export function readTexts({ messages }: SendBatchBody): string[] {
  const faults: FieldFault[] = [];
  const texts = messages.map((item, index) => {
    const isObject = typeof item === 'object' && item !== null && !Array.isArray(item);
    const text = isObject && Object.hasOwn(item, 'message') ? (item as { message: unknown }).message : undefined;
    const fault = isObject ? messageFault(text) : 'A message must be an object.';
    if (fault !== null) faults.push({ pointer: `/messages/${index}${isObject ? '/message' : ''}`, detail: fault });
    return text as string;
  });
  if (faults.length > 0) throw new ValidationError(faults.slice(0, MAX_FAULTS));
  return texts;
}
