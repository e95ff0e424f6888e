import { databaseClock } from '#kernel/clock.js';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The three forms of a date in HTTP (RFC 9110, 5.6.7): IMF-fixdate, RFC 850 and asctime(). All are UTC. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/,
];

/**
 * The milliseconds that a response asks to wait; null if it does not, or not in a valid form.
 * @param header `Retry-After`: seconds or an HTTP date, which may be in a leap second. Of several, the first counts: it is
 *   the one of the receiver itself if proxies add their own.
 */
export function retryAfterMs(header: string | string[] | undefined, now = databaseClock.now()): number | null {
  const text = [header ?? ''].flat()[0]?.trim() ?? '';
  // Proxies may have joined several.
  const [seconds] = /^\d+(?=\s*(?:,|$))/.exec(text) ?? [];
  if (seconds !== undefined) return Number(seconds) * 1_000;
  const at = httpDate(text, now);
  return at === null ? null : Math.max(0, at - now.getTime());
}

/** @returns Unix milliseconds; null if it is not a date */
function httpDate(text: string, now: Date): number | null {
  const groups = HTTP_DATES.map((form) => form.exec(text)?.groups).find((found) => found !== undefined);
  if (groups === undefined) return null;
  const { day = '', month = '', year = '', time = '' } = groups;
  // Two digits mean the year of this century that is at most 50 years ahead.
  const century = 100 * Math.floor(now.getUTCFullYear() / 100);
  const near = century + Number(year);
  const fullYear = year.length === 4 ? Number(year) : near - (near > now.getUTCFullYear() + 50 ? 100 : 0);
  const date = new Date(
    `${fullYear}-${pad(MONTHS.indexOf(month) + 1)}-${pad(Number(day))}T${time.replace(/60$/, '59')}Z`,
  );
  // Rejects the 31st of a month with 30 days, which JavaScript takes for the first of the next month.
  return date.getUTCDate() === Number(day) ? date.getTime() : null;
}

const pad = (number: number) => String(number).padStart(2, '0');
