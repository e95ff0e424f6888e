import { UsageError } from './usage-error.js';

/** Thrown for a part of a URL; the message never contains the text, which may be a secret. */
export class UrlError extends Error {}

/**
 * Decodes percent-encoded UTF-8. A `%` without two hexadecimal digits after it is itself: passwords contain some.
 * @throws UrlError if it is no UTF-8, or has a U+0000
 */
export function decoded(text: string): string {
  const escaped = text.replace(/%(?![\da-f]{2})/gi, '%25');
  try {
    const result = decodeURIComponent(escaped);
    if (!result.includes('\0')) return result;
  } catch {
    // Reported below.
  }
  throw new UrlError('percent-encoded as UTF-8, without %00');
}

export interface UrlParts {
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** As they are written: `host:port,host:port`. */
  readonly hosts: string;
  /** Decoded, without the slash. */
  readonly path: string;
  /** Decoded, the last of each name. */
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Splits the part of a URL after `scheme://`. Unlike `URL`, it accepts several hosts and a password with `#`, `?`, `@`
 * and spaces; only a slash in it must be encoded.
 * @throws UrlError
 */
export function splitUrl(text: string): UrlParts {
  const [, before = '', , after = ''] = /^([^/]*)(\/(.*))?$/s.exec(text) ?? [];
  const { user, password, rest } = userIn(before);
  const [hosts = '', ...ownQuery] = rest.split('?');
  const isQuery = ownQuery.length > 0;
  // Without a path, slashes belong to the parameters.
  const whole = isQuery ? [ownQuery.join('?'), after].join(text.includes('/') ? '/' : '') : after;
  const [path = '', ...query] = isQuery ? ['', whole] : whole.split('?');
  return { user, password, hosts, path: decoded(path), parameters: parametersIn(query.join('?')) };
}

function userIn(text: string) {
  const end = text.lastIndexOf('@');
  const isInQuery = /\?[a-z_]+=/.test(text.slice(0, Math.max(end, 0)));
  if (end < 0 || isInQuery) return { user: undefined, password: undefined, rest: text };
  const [user = '', ...password] = text.slice(0, end).split(':');
  return {
    user: user === '' ? undefined : decoded(user),
    password: password.length === 0 ? undefined : decoded(password.join(':')),
    rest: text.slice(end + 1),
  };
}

function parametersIn(query: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of query.split('&').filter((one) => one !== '')) {
    const [name = '', ...value] = pair.split('=');
    parameters.set(decoded(name), decoded(value.join('=')));
  }
  return parameters;
}

/** Undefined for an empty text, as for one that is not given. */
export function filled(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

/** Splits a host and a port: `[::1]:5432` into `::1` and 5432. Undefined if the text is neither. */
export function hostIn(text: string): { host: string; port: string } | undefined {
  const [, address, name, port = ''] = /^(?:\[([\da-f:.%\w]+)\]|([^:[\]\s@?#/]*))(?::(\d{0,5}))?$/i.exec(text) ?? [];
  if (address === undefined && name === undefined) return undefined;
  if (port !== '' && (Number(port) < 1 || Number(port) > 65_535)) return undefined;
  return { host: address ?? decoded(name ?? ''), port };
}

/** What comes from the file that the URL is read from, and would else belong to a name or a password. */
const STRAY_CHARACTERS = /^\s|\s$|\p{Cc}/u;

/** Parses the URL in an environment variable. */
export function readingUrl<T>(variable: string, url: string, parse: (url: string) => T): T {
  try {
    if (STRAY_CHARACTERS.test(url)) throw new UrlError('a URL without spaces around it and without line breaks');
    return parse(url);
  } catch (error) {
    if (error instanceof UrlError) throw new UsageError(`${variable} must be ${error.message}.`);
    throw error;
  }
}
