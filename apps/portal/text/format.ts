import { nameHidden } from './hidden-characters.js';

const LOCALE = 'en';
/** Times are written as the reader's browser writes them, in its zone, which is named. */
const READER = navigator.languages.filter(isLanguageTag);
/** Keeps a number and its unit on one line. */
const NBSP = '\u00a0';
const PREVIEW_LENGTH = 160;
/** Characters of a text that lists load: more than they show, since white space at its beginning is left out. */
export const LOADED_LENGTH = 500;
const number = new Intl.NumberFormat(LOCALE);
const fraction = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 1 });
const dateTime = new Intl.DateTimeFormat(READER, { dateStyle: 'medium', timeStyle: 'long' });
const date = new Intl.DateTimeFormat(READER, { dateStyle: 'medium' });
const HOUR_OF_DAY = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const;
const hourOfDay = new Intl.DateTimeFormat(READER, HOUR_OF_DAY);
const hourInZone = new Intl.DateTimeFormat(READER, { ...HOUR_OF_DAY, timeZoneName: 'short' });
const dayInUtc = new Intl.DateTimeFormat(READER, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const clock = new Intl.DateTimeFormat(READER, { timeStyle: 'long' });
const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto', style: 'narrow' });

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Systems without a language, such as those of the locale `C`, name one that is none. */
function isLanguageTag(language: string): boolean {
  try {
    return Intl.getCanonicalLocales(language).length > 0;
  } catch {
    return false;
  }
}

export const formatNumber = (value: number): string => number.format(value);
/** Of a number that is counted up to a bound. */
export const formatUpTo = (bound: number, value: number): string =>
  value >= bound ? `${number.format(bound)} or more` : number.format(value);
/** The time of day stays on one line, with its zone. */
export const formatTime = (at: string | number | Date): string => {
  const parts = dateTime.formatToParts(new Date(at));
  const hour = parts.findIndex(({ type }) => type === 'hour');
  return parts.map(({ value }, index) => (index > hour ? value.replace(/\s/g, NBSP) : value)).join('');
};
/** Without the zone, which is named beside them, but for two hours of the same name when clocks are set back. */
export const formatHour = (at: string): string => {
  const time = Date.parse(at);
  const isTwice = [time - HOUR, time + HOUR].some((other) => hourOfDay.format(other) === hourOfDay.format(time));
  return (isTwice ? hourInZone : hourOfDay).format(time);
};
export const ZONE = dateTime.resolvedOptions().timeZone;
/** In UTC, like the days of the usage. */
export const formatDay = (at: string): string => dayInUtc.format(new Date(at));
export const formatDate = (at: string | number | Date): string => date.format(new Date(at));

/** The time of day, with the date unless it is today. */
export function formatMoment(at: string | number | Date): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  return isToday ? clock.format(new Date(at)).replace(/\s/g, NBSP) : formatTime(at);
}

/** Like "5 min. ago" or "in 3 days". */
export function formatRelative(at: string, now: number): string {
  const distance = new Date(at).getTime() - now;
  const size = Math.abs(distance);
  if (size < 5 * SECOND) return 'now';
  if (size < MINUTE) return relative.format(Math.round(distance / SECOND), 'second');
  if (size < HOUR) return relative.format(Math.round(distance / MINUTE), 'minute');
  if (size < DAY) return relative.format(Math.round(distance / HOUR), 'hour');
  return relative.format(Math.round(distance / DAY), 'day');
}

/** Like "42 s", "3 min 5 s" or "23 h 10 min". */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / SECOND));
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60), seconds % 60];
  if (hours > 0) return `${number.format(hours)}${NBSP}h${minutes > 0 ? ` ${minutes}${NBSP}min` : ''}`;
  if (minutes > 0) return `${minutes}${NBSP}min${rest > 0 ? ` ${rest}${NBSP}s` : ''}`;
  return `${rest}${NBSP}s`;
}

export function formatMilliseconds(milliseconds: number): string {
  return milliseconds < 10_000 ? `${number.format(Math.round(milliseconds))}${NBSP}ms` : formatDuration(milliseconds);
}

export function formatBytes(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${fraction.format(bytes / 1_024 ** step)}${NBSP}${step === 0 && bytes === 1 ? 'byte' : (units[step] ?? '')}`;
}

/** Like "1 message" or "2 messages". */
export function count(value: number, noun: string): string {
  return `${number.format(value)}${NBSP}${noun}${value === 1 ? '' : 's'}`;
}

/** The first characters, and no half of one. */
export const beginning = (text: string, length: number): string => text.slice(0, length).replace(/\p{Surrogate}$/u, '');

/** One line of a message. */
export function previewOf(text: string): string {
  const line = beginning(text.trimStart(), PREVIEW_LENGTH).replace(/\s+/g, ' ');
  return line === '' ? '(only white space)' : nameHidden(line);
}

const encoder = new TextEncoder();
export const byteLength = (text: string): number => encoder.encode(text).length;
