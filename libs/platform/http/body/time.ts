import {
  isISO8601,
  isRFC3339,
  ValidatorConstraint,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';

/** Of a later instant, an offset can be the cause: in UTC, its year has five digits, which RFC 3339 does not have. */
const LAST = Date.parse('9999-12-31T23:59:59.999Z');

/** Reads a time of RFC 3339, whose letters may be small; null when it is invalid. */
export function readTime(value: unknown): Date | null {
  // isISO8601 checks the days of each month; isRFC3339 excludes what JavaScript can't read or reads as local time.
  const text = typeof value === 'string' ? value.replace('t', 'T').replace('z', 'Z') : '';
  const isTime = isISO8601(text, { strict: true, strictSeparator: true }) && isRFC3339(text);
  const time = new Date(isTime ? text : NaN);
  return time.getTime() <= LAST ? time : null;
}

/** The error for an invalid time. */
export function invalidTime(field: string): string {
  return `${field} must be a time like 2030-01-31T12:00:00Z.`;
}

export const TIME_SCHEMA = { type: 'string', format: 'date-time' };

/** The rule for a time in a body. */
@ValidatorConstraint()
export class Time implements ValidatorConstraintInterface {
  static readonly schema = TIME_SCHEMA;

  validate(value: unknown): boolean {
    return readTime(value) !== null;
  }

  defaultMessage({ property }: ValidationArguments): string {
    return invalidTime(property);
  }
}
