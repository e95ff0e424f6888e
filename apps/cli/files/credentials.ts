import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliError } from '../support/exit-codes.js';

/** What is kept for one service. */
export interface Entry {
  apiKey?: string;
  operatorKey?: string;
  /** Signs what `sluice listen` forwards. */
  listenSecret?: string;
}

interface Content {
  /** The base URL that is used unless another one is named. */
  current?: string;
  services: Record<string, Entry>;
}

/** The credentials file. Keys are kept by base URL, so that a key is never sent to another service. */
export class CredentialsFile {
  readonly path = join(folder('XDG_CONFIG_HOME', '.config'), 'credentials.json');

  get current(): string | undefined {
    return this.read().current;
  }

  entry(baseUrl: string): Entry {
    return this.read().services[baseUrl] ?? {};
  }

  /** Adds to what is kept for a service. */
  save(baseUrl: string, entry: Entry): void {
    const { services, ...rest } = this.read();
    this.write({ ...rest, services: { ...services, [baseUrl]: { ...services[baseUrl], ...entry } } });
  }

  forgetApiKey(baseUrl: string): void {
    const { services, ...rest } = this.read();
    const entry = { ...services[baseUrl] };
    delete entry.apiKey;
    this.write({ ...rest, services: { ...services, [baseUrl]: entry } });
  }

  /** Makes a service the current one. */
  select(baseUrl: string): void {
    this.write({ ...this.read(), current: baseUrl });
  }

  /** Removes what is kept for a service. @returns whether there were keys */
  forget(baseUrl: string): boolean {
    const { current, services } = this.read();
    const { [baseUrl]: removed, ...others } = services;
    if (removed !== undefined) {
      this.write({ ...(current !== undefined && current !== baseUrl && { current }), services: others });
    }
    return removed?.apiKey !== undefined || removed?.operatorKey !== undefined;
  }

  private read(): Content {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { services: {} };
      throw error;
    }
    try {
      return { services: {}, ...(JSON.parse(text) as Partial<Content>) };
    } catch {
      throw new CliError(`${this.path} is not valid JSON: remove it, then run sluice login.`);
    }
  }

  private write(content: Content): void {
    writePrivately(this.path, JSON.stringify(content, null, 2));
  }
}

/** A folder of this program in the user's home, as the XDG Base Directory Specification places it. */
export function folder(variable: 'XDG_CONFIG_HOME' | 'XDG_STATE_HOME', fallback: string): string {
  const base = process.env[variable];
  return join(base === undefined || base === '' ? join(homedir(), fallback) : base, 'sluice');
}

/** Replaces a file that only its owner may read. A crash leaves the old one or the new one. */
export function writePrivately(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(4).toString('hex')}`;
  writeFileSync(temporary, `${text}\n`, { mode: 0o600, flush: true });
  // An unusual umask could have removed the owner's rights.
  chmodSync(temporary, 0o600);
  renameSync(temporary, path);
}
