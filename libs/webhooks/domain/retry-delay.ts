/** Waits are extended by up to a tenth, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;
/** The longest wait that a receiver can request with Retry-After. */
const MAX_RETRY_AFTER_MS = 86_400_000;

/**
 * Milliseconds until the next attempt; null when there is none. AttemptResult decides which statuses may request a wait.
 * @param retrySeconds the waits before the second and each further attempt
 * @param failures attempts that have failed, at least 1
 * @param retryAfterMs the wait that the receiver requested; 0 for none
 * @param random a number in [0, 1)
 */
export function retryDelay(
  retrySeconds: readonly number[],
  failures: number,
  retryAfterMs: number,
  random: number,
): number | null {
  const seconds = retrySeconds[failures - 1];
  if (seconds === undefined) return null;
  return Math.max(Math.round(seconds * 1_000 * (1 + JITTER * random)), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The three forms of a date in HTTP (RFC 9110, 5.6.7): IMF-fixdate, RFC 850 and asctime(). All are UTC. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/,
];

/**
 * The milliseconds of a header `Retry-After`; 0 without a valid one.
 * @param text seconds or an HTTP date, which may be in a leap second
 */
export function retryAfterMs(text: string | null, now: Date): number {
  if (text === null) return 0;
  // The first of several, which proxies may have joined.
  const [seconds] = /^\d+(?=\s*(?:,|$))/.exec(text.trim()) ?? [];
  if (seconds !== undefined) return Number(seconds) * 1_000;
  const at = httpDate(text.trim(), now);
  return at === null ? 0 : Math.max(0, at - now.getTime());
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
