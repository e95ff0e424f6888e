import { ValidatorConstraint, type ValidationArguments, type ValidatorConstraintInterface } from 'class-validator';

/** RFC 3339 without leap seconds. */
const TIME =
  /^(?<day>\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** In UTC, where an offset can move a time to another year. Types of clients, such as Python's, have no year 0. */
const FIRST = Date.parse('0001-01-01T00:00:00.000Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');

/** Reads a time of RFC 3339, whose letters may be small; null when it is invalid. */
export function readTime(value: unknown): Date | null {
  const text = typeof value === 'string' ? value.toUpperCase() : '';
  const day = TIME.exec(text)?.groups?.day;
  // JavaScript takes the 31st of a month with 30 days for the first of the next one.
  if (day === undefined || !new Date(day).toISOString().startsWith(day)) return null;
  const time = new Date(text);
  return time.getTime() >= FIRST && time.getTime() <= LAST ? time : null;
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
