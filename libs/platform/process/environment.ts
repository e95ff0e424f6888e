import { decoded, readingUrl } from './url-text.js';
import { UsageError } from './usage-error.js';

export interface Format<T> {
  /** Completes "<name> must be …". */
  readonly expected: string;
  /** Undefined for a text that is not accepted. */
  readonly parse: (text: string) => T | undefined;
  /** Whether the error must not contain the text. */
  readonly secret?: boolean;
}

/**
 * Settings from environment variables; message handlers read their own from it as well. An empty variable counts as not
 * set. Methods throw a UsageError, which keeps the process from starting.
 */
export class Environment {
  constructor(private readonly variables: Readonly<Record<string, string | undefined>>) {}

  optional(name: string): string | undefined {
    const text = this.variables[name];
    return text === '' ? undefined : text;
  }

  /** @param what completes "<name> is required: …" */
  text(name: string, what: string): string {
    const text = this.optional(name);
    if (text === undefined) throw new UsageError(`${name} is required: ${what}.`);
    return text;
  }

  read<T, U>(name: string, fallback: U, format: Format<T>): T | U {
    const text = this.optional(name);
    return text === undefined ? fallback : parsed(name, text, format);
  }

  required<T>(name: string, what: string, format: Format<T>): T {
    return parsed(name, this.text(name, what), format);
  }

  /**
   * A required URL. It may contain a user and a password, which `decodeURIComponent` can decode.
   * @param protocols as in `https:`
   */
  url(name: string, what: string, protocols: readonly string[]): URL {
    const isAccepted = ({ hostname, protocol }: URL) => hostname !== '' && protocols.includes(protocol);
    const url = this.required(name, what, {
      expected: `a URL that begins with ${protocols.join('// or ')}//`,
      parse: (text) => (URL.canParse(text) && isAccepted(new URL(text)) ? new URL(text) : undefined),
      secret: true,
    });
    return readingUrl(name, url.href, () => {
      url.username = encodeURIComponent(decoded(url.username));
      url.password = encodeURIComponent(decoded(url.password));
      return url;
    });
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    return this.read(name, fallback, {
      expected: `a whole number from ${min} to ${max}`,
      parse: (text) =>
        /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined,
    });
  }

  oneOf<T extends string>(name: string, fallback: T, values: readonly T[]): T {
    return this.read(name, fallback, {
      expected: `one of ${values.join(', ')}`,
      parse: (text) => values.find((value) => value === text),
    });
  }
}

function parsed<T>(name: string, text: string, { expected, parse, secret = false }: Format<T>): T {
  const value = parse(text);
  if (value === undefined) throw new UsageError(`${name} must be ${expected}${secret ? '' : `; it is "${text}"`}.`);
  return value;
}
