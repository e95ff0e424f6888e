import {
  isISO8601,
  isRFC3339,
  ValidatorConstraint,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';

/** A time as a request tells it: with its offset. Null when it is not that. */
export function readTime(value: unknown): Date | null {
  // The one knows the days of each month, the other leaves out what JavaScript can't read or reads as local time.
  const isTime =
    typeof value === 'string' && isISO8601(value, { strict: true, strictSeparator: true }) && isRFC3339(value);
  const time = new Date(isTime ? value : NaN);
  return Number.isNaN(time.getTime()) ? null : time;
}

/** What is wrong with what is no time. */
export function notATime(field: string): string {
  return `${field} must be a time like 2030-01-31T12:00:00Z.`;
}

export const TIME_SCHEMA = { type: 'string', format: 'date-time' };

/** The rule for a time, as a rule of a body. */
@ValidatorConstraint()
export class Time implements ValidatorConstraintInterface {
  static readonly schema = TIME_SCHEMA;

  validate(value: unknown): boolean {
    return readTime(value) !== null;
  }

  defaultMessage({ property }: ValidationArguments): string {
    return notATime(property);
  }
}
