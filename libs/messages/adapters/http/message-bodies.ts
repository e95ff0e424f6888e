import {
  Validate,
  ValidatorConstraint,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { textFault } from '../../domain/message-text.js';

/** The domain's rule for a message's text, as a rule of a body. */
@ValidatorConstraint()
class MessageText implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return typeof value === 'string' && textFault(value) === null;
  }

  defaultMessage({ value }: ValidationArguments): string {
    if (value === undefined) return 'message is required.';
    return (typeof value === 'string' ? textFault(value) : null) ?? 'message must be a string.';
  }
}

export class SendMessageBody {
  @Validate(MessageText)
  message!: string;
}
