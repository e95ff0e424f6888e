import { Sluice, type Retry, type SluiceOptions } from '#client/index.js';
import { CredentialsFile } from '../files/credentials.js';
import { parseBaseUrl, requireUsablePort } from '../input/urls.js';
import { reasonOf } from './errors.js';
import { CliError, EXIT } from './exit-codes.js';
import { networkFetch } from './fetch.js';
import { duration, Output } from './output.js';

export interface GlobalOptions {
  readonly json?: true;
  readonly baseUrl?: string;
}

type ClientOptions = Omit<SluiceOptions, 'apiKey' | 'baseUrl'>;

/** Shorter waits are not worth a line. */
const NOTICEABLE_MS = 1_000;
/** A try that fails after this time has itself been a wait: it got no response, or a proxy did not. */
const LONG_TRY_MS = 5_000;
const DEFAULT_BASE_URL = 'http://127.0.0.1:3000';

/** What commands share. The options are known only when a command runs. */
export class Context {
  readonly credentials = new CredentialsFile((sentence) => {
    this.output.warn(sentence);
  });

  constructor(private readonly options: () => GlobalOptions) {}

  get output(): Output {
    return new Output(this.options().json === true);
  }

  /** The service that was named, or the service of the last login. */
  get baseUrl(): string {
    return this.namedBaseUrl ?? this.credentials.current ?? DEFAULT_BASE_URL;
  }

  /** The service that was named, or a local one: an old login must not choose where a load goes. */
  get baseUrlForLoad(): string {
    return this.namedBaseUrl ?? DEFAULT_BASE_URL;
  }

  /** Where the API key comes from, for people. */
  get keySource(): string {
    return this.isLoggedIn ? this.credentials.path : 'SLUICE_API_KEY';
  }

  /** Whether the API key is from the credentials file. */
  get isLoggedIn(): boolean {
    return variable('SLUICE_API_KEY') === undefined;
  }

  apiKeyFor(baseUrl: string): string {
    return this.keyFor(baseUrl, 'apiKey', 'SLUICE_API_KEY', 'sluice login');
  }

  /** A client with the user's API key. */
  sluice(options: ClientOptions = {}): Sluice {
    return this.clientWith(this.apiKeyFor(this.baseUrl), options);
  }

  /** A client with the operators' key. */
  operator(): Sluice {
    const { baseUrl } = this;
    return this.clientWith(this.keyFor(baseUrl, 'operatorKey', 'SLUICE_ADMIN_API_KEY', 'sluice login --operator'));
  }

  /** A client that says why nothing happens when it waits, and does not try for long: somebody is waiting for it. */
  clientWith(apiKey: string, options: ClientOptions = {}): Sluice {
    const { fetch: send = networkFetch() } = options;
    let begun = 0;
    const fetch: typeof send = (...request) => {
      begun = performance.now();
      return send(...request);
    };
    const onRetry = ({ error, waitMs }: Retry) => {
      if (waitMs < NOTICEABLE_MS && performance.now() - begun < LONG_TRY_MS) return;
      this.output.warn(`${reasonOf(error)} Trying again in ${duration(waitMs / 1_000)} …`);
    };
    requireUsablePort(this.baseUrl, 'The address of the service');
    return new Sluice({ maxTries: 3, onRetry, ...options, fetch, apiKey, baseUrl: this.baseUrl });
  }

  private keyFor(baseUrl: string, field: 'apiKey' | 'operatorKey', name: string, command: string): string {
    const set = variable(name);
    if (set !== undefined) return validKey(set, name);
    const key = this.credentials.entry(baseUrl)[field];
    if (key !== undefined) return validKey(key, `What ${this.credentials.path} has for ${baseUrl}`, ` Run ${command}.`);
    throw new CliError(`You have no key for ${baseUrl}. Run ${command}, or set ${name}.`, EXIT.refused);
  }

  private get namedBaseUrl(): string | undefined {
    const { baseUrl } = this.options();
    if (baseUrl !== undefined) return parseBaseUrl(baseUrl, '--base-url');
    const set = variable('SLUICE_BASE_URL');
    return set === undefined ? undefined : parseBaseUrl(set, 'SLUICE_BASE_URL');
  }
}

/** @param source where it is from, to begin a sentence with. @throws CliError for what cannot be a key */
export function validKey(key: string, source: string, remedy = ''): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new CliError(`${source} is not a key: a key has only visible ASCII characters.${remedy}`, EXIT.refused);
}

/** An environment variable; an empty one counts as not set. */
export function variable(name: string): string | undefined {
  const text = process.env[name];
  return text === '' ? undefined : text;
}
