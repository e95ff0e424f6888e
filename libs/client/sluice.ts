import { AccountResource } from './account.js';
import { Admin } from './admin.js';
import { consume, type ConsumeOptions, type HeldMessage } from './consume.js';
import { Endpoints } from './endpoints.js';
import { events, type EventOptions, type StatusEvent } from './events.js';
import { Leases } from './leases.js';
import { Messages } from './messages.js';
import type { RateLimit } from './rate-limit.js';
import { Transport, type CallOptions, type OnceOptions, type TransportOptions } from './transport.js';
import type { NewAccount, NewApiKey, SignUpInput } from './types.js';

export interface SluiceOptions extends TransportOptions {
  /** `slc_…`; for `admin`, the operators' key. */
  readonly apiKey: string;
}

/** Where there is an environment: Node.js, Deno and Bun. */
interface Runtime {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
}

/** A client of Sluice, for one API key. Share it: what is known about limits is kept in it. */
export class Sluice {
  readonly messages: Messages;
  readonly account: AccountResource;
  readonly endpoints: Endpoints;
  readonly leases: Leases;
  readonly admin: Admin;
  readonly #transport: Transport;

  constructor({ apiKey, ...options } = {} as SluiceOptions) {
    this.#transport = new Transport(apiKey, options);
    this.messages = new Messages(this.#transport);
    this.account = new AccountResource(this.#transport);
    this.endpoints = new Endpoints(this.#transport);
    this.leases = new Leases(this.#transport);
    this.admin = new Admin(this.#transport);
  }

  /**
   * A client with `SLUICE_API_KEY` and `SLUICE_BASE_URL` of the environment, as the command line reads them.
   * @throws TypeError if one of them is neither set nor passed
   */
  static fromEnv(options: Partial<SluiceOptions> = {}): Sluice {
    const { env = {} } = (globalThis as Runtime).process ?? {};
    const { apiKey = env.SLUICE_API_KEY, baseUrl = env.SLUICE_BASE_URL } = options;
    if (!apiKey) throw new TypeError('SLUICE_API_KEY is not set.');
    if (!baseUrl) throw new TypeError('SLUICE_BASE_URL is not set.');
    return new Sluice({ ...options, apiKey, baseUrl });
  }

  /** Creates an account with a first API key, which is shown only once. Requires no key. */
  static signUp({ name, ...options }: TransportOptions & SignUpInput, call: OnceOptions = {}): Promise<NewAccount> {
    return new Transport(null, options).json('POST', '/accounts', { ...call, body: { name }, field: 'apiKey' });
  }

  /** Exchanges the token of a link to the portal, as the portal does: it works once. `key` of the result is shown only once. */
  static openPortalLink(
    { token, ...options }: TransportOptions & { readonly token: string },
    call: CallOptions = {},
  ): Promise<NewApiKey> {
    return new Transport(null, options).json('POST', '/portal-links/open', { ...call, body: { token }, field: 'key' });
  }

  /** How many requests remain, as the last response said; null before the first one. */
  get rateLimit(): RateLimit | null {
    return this.#transport.rateLimit;
  }

  /** What happens to the messages of the account, as it happens. Reconnects by itself; ends when the signal is aborted. */
  events(options: EventOptions = {}): AsyncGenerator<StatusEvent, void, undefined> {
    return events(this.#transport, options);
  }

  /**
   * The messages of the account, if its `delivery` is `pull`, as they become available. Each one must be acknowledged
   * or rejected; its lease is extended until then. To process several at a time, don't wait for one before the next.
   *
   * When the signal is aborted, the loop ends; messages that it has returned can still be acknowledged or rejected.
   * When the loop is left otherwise, everything that it holds is rejected, so that others get it.
   */
  consume(options: ConsumeOptions = {}): AsyncGenerator<HeldMessage, void, undefined> {
    return consume(this.leases, options);
  }
}
