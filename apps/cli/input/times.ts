import { InvalidArgumentError, Option, type Command } from 'commander';

const FORM =
  /^([1-9]\d{3})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?$/;

/** An option that takes a time. */
export function timeOption(flags: string, description: string): Option {
  return new Option(flags, `${description}; in local time unless it ends with Z or an offset`).argParser(instant);
}

/** Refuses a period of `--since` and `--until` that is empty. */
export function requirePeriod(command: Command): void {
  const { since, until } = command.opts<{ readonly since?: string; readonly until?: string }>();
  if (since !== undefined && until !== undefined && since >= until) {
    command.error('error: --until must be after --since');
  }
}

/**
 * A time as people write it: RFC 3339, or without an offset in local time. A date alone is its first second.
 * @returns the same instant in UTC, for the service
 */
export function instant(text: string): string {
  const found = FORM.exec(text);
  if (found === null) {
    throw new InvalidArgumentError(
      'It must be a time such as 2026-11-21T09:30:00Z or 2026-11-21T09:30:00+01:00, or in local time 2026-11-21 or ' +
        '2026-11-21T09:30.',
    );
  }
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map((part: string | undefined) => Number(part ?? 0));
  // As if it were in UTC: of the fields alone, it is known whether they exist.
  const at = Date.UTC(year, month - 1, day, hour, minute, second, Number((found[7] ?? '').padEnd(3, '0').slice(0, 3)));
  if (month < 1 || month > 12 || day !== new Date(at).getUTCDate() || hour > 23 || minute > 59 || second > 59) {
    throw new InvalidArgumentError('There is no such date or time of day.');
  }
  return rfc3339(found[8] === undefined ? localInstant(at, text) : at - offsetMs(found[8]));
}

function rfc3339(at: number): string {
  const text = new Date(at).toISOString();
  if (/^\d{4}-/.test(text)) return text;
  throw new InvalidArgumentError('It must be before the year 10000.');
}

function offsetMs(offset: string): number {
  if (/z/i.test(offset)) return 0;
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4));
  return (offset.startsWith('-') ? -1 : 1) * minutes * MINUTE_MS;
}

/**
 * The instant at which local clocks show this.
 * @param shown as if it were in UTC
 */
function localInstant(shown: number, text: string): number {
  requireKnownZone(process.env.TZ ?? '');
  const instants = [-DAY_MS, DAY_MS].map((days) => shown + new Date(shown + days).getTimezoneOffset() * MINUTE_MS);
  const right = new Set(instants.filter((at) => at - new Date(at).getTimezoneOffset() * MINUTE_MS === shown));
  const [only] = right;
  if (right.size === 1 && only !== undefined) return only;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const times = right.size === 0 ? 'does not exist' : 'exists twice';
  throw new InvalidArgumentError(
    `${text} ${times} in ${timeZone}, where clocks are changed then. Add Z or an offset, such as +01:00.`,
  );
}

/** Node.js takes UTC, or an offset without summer time, for what it does not know, such as `CET-1CEST` or a path. */
function requireKnownZone(zone: string): void {
  if (zone === '' || isKnownZone(zone)) return;
  throw new InvalidArgumentError(
    `TZ is ${zone}, which is not the name of a time zone, such as Europe/Berlin. Set it to one, or add Z or an offset, such as +01:00.`,
  );
}

function isKnownZone(zone: string): boolean {
  try {
    Intl.DateTimeFormat('en', { timeZone: zone.replace(/^:?((posix|right)\/)?/, '') });
    // Undefined if the case of a letter differs.
    return (Intl.DateTimeFormat().resolvedOptions().timeZone as string | undefined) !== undefined;
  } catch {
    return false;
  }
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
