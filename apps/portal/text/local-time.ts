const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The instant of a time that was chosen in the visitor's time zone. */
export type Chosen =
  | { readonly at: Date; readonly note: string; readonly problem?: undefined }
  | { readonly at?: undefined; readonly note?: undefined; readonly problem: string };

/** How many minutes UTC is ahead of local time, as `getTimezoneOffset` says it. */
type OffsetAt = (at: number) => number;

const ofThisMachine: OffsetAt = (at) => new Date(at).getTimezoneOffset();

/**
 * The instant of a time such as `2026-11-21T09:30`, the value of a control for times. When clocks are changed, such a
 * time does not exist, or exists twice: the first one is meant, for as long as it is not past.
 */
export function chosenTime(
  value: string,
  offsetAt: OffsetAt = ofThisMachine,
  zone: string = Intl.DateTimeFormat().resolvedOptions().timeZone,
  now: number = Date.now(),
): Chosen {
  const shown = Date.parse(`${value}Z`);
  if (Number.isNaN(shown)) return { problem: 'This is no time: a year has four digits.' };
  const candidates = [-DAY_MS, DAY_MS].map((days) => shown + offsetAt(shown + days) * MINUTE_MS);
  const [first, second] = [...new Set(candidates)]
    .filter((at) => at - offsetAt(at) * MINUTE_MS === shown)
    .sort((a, b) => a - b);
  if (first === undefined) return { problem: `This time does not exist in ${zone}: clocks are changed then.` };
  const isPast = second !== undefined && first < now;
  const at = new Date(isPast ? second : first);
  const note = `${inUtc(at)} (${offsetText(-offsetAt(at.getTime()))} in ${zone}).`;
  if (second === undefined) return { at, note };
  const meant = isPast ? 'The first one is past, and the second one is meant' : 'The first one is meant';
  return { at, note: `This time exists twice, because clocks are changed. ${meant}: ${note}` };
}

/** `2026-11-21 08:30 UTC` */
function inUtc(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** `UTC+01:00` */
function offsetText(minutes: number): string {
  const two = (part: number) => String(Math.floor(part)).padStart(2, '0');
  const size = Math.abs(minutes);
  return `UTC${minutes < 0 ? '−' : '+'}${two(size / 60)}:${two(size % 60)}`;
}

/** The last time that a control for times can have: without it, browsers take years of six digits. */
export const LAST_TIME = '9999-12-31T23:59';

/** A time as the control for times takes it, in the visitor's zone. */
export function localTime(at: number): string {
  return new Date(at - ofThisMachine(at) * MINUTE_MS).toISOString().slice(0, 16);
}
