import { given, integer, oneOf, SettingsError, type Variables } from './settings.js';

/**
 * What a message handler reads its own settings from. Each method throws a SettingsError, one sentence for people, which
 * keeps the process from starting. A variable that is empty counts as not set.
 */
export class Environment {
  constructor(private readonly variables: Variables) {}

  /** @param what completes "<name> is required: …" */
  text(name: string, what: string): string {
    const text = given(this.variables, name);
    if (text === undefined) throw new SettingsError(`${name} is required: ${what}.`);
    return text;
  }

  /**
   * A required URL. It may hold a password, so no sentence repeats it.
   * @param protocols as in `https:`
   */
  url(name: string, what: string, protocols: readonly string[]): URL {
    const text = this.text(name, what);
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null || url.hostname === '' || !protocols.includes(url.protocol)) {
      throw new SettingsError(`${name} must be a URL that begins with ${protocols.join('// or ')}//.`);
    }
    return url;
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    return integer(this.variables, name, fallback, min, max);
  }

  oneOf<T extends string>(name: string, fallback: T, values: readonly T[]): T {
    return oneOf(this.variables, name, fallback, values);
  }
}
