import { join } from 'node:path';
import { parseBaseUrl } from '../input/urls.js';
import { CliError } from '../support/exit-codes.js';
import { folder, isOpenToOthers, readIfAny, writePrivately } from './private-file.js';

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
  private readonly folder = folder('XDG_CONFIG_HOME', '.config');
  private isChecked = false;

  /** @param warn is told, once, that others may read the file */
  constructor(private readonly warn: (sentence: string) => void) {}

  /** @throws CliError without a home directory */
  get path(): string {
    if (this.folder !== null) return join(this.folder, 'credentials.json');
    throw new CliError(
      'You have no home directory to keep keys in: set HOME, or use SLUICE_API_KEY without sluice login.',
    );
  }

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
    const text = this.folder === null ? null : readIfAny(this.path);
    if (text === null) return { services: {} };
    if (!this.isChecked && isOpenToOthers(this.path)) {
      this.warn(`Other users may use ${this.path}, which has your keys. To prevent that: chmod 600 ${this.path}`);
    }
    this.isChecked = true;
    const content = parse(text);
    if (content === null) {
      throw new CliError(`${this.path} is not a file of sluice login: remove it, then run sluice login.`);
    }
    return content;
  }

  private write(content: Content): void {
    writePrivately(this.path, JSON.stringify(content, null, 2));
  }
}

/** @returns null if it is not in the format of this program; fields of other versions are kept */
function parse(text: string): Content | null {
  try {
    const content: unknown = JSON.parse(text);
    if (!isRecord(content)) return null;
    const { current, services = {} } = content as Partial<Content>;
    if (current !== undefined) parseBaseUrl(current, 'current');
    const isRight = isRecord(services) && Object.values(services).every((entry) => isRecord(entry) && hasTexts(entry));
    return isRight ? { ...content, services } : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasTexts({ apiKey, operatorKey, listenSecret }: Entry): boolean {
  return [apiKey, operatorKey, listenSecret].every((text: unknown) => text === undefined || typeof text === 'string');
}
