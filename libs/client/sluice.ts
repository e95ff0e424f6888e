import { AccountResource } from './account.js';
import { events, type EventOptions, type MessageEvent } from './events.js';
import { Messages } from './messages.js';
import type { RateLimit } from './rate-limit.js';
import { Transport, type CallOptions, type TransportOptions } from './transport.js';
import type { NewAccount, SignUpInput } from './types.js';

export interface SluiceOptions extends TransportOptions {
  readonly apiKey: string;
}

/** A client of Sluice, for one API key. Share it: what is known about limits is kept in it. */
export class Sluice {
  readonly messages: Messages;
  readonly account: AccountResource;
  readonly #transport: Transport;

  constructor({ apiKey, ...options }: SluiceOptions) {
    this.#transport = new Transport(apiKey, options);
    this.messages = new Messages(this.#transport);
    this.account = new AccountResource(this.#transport);
  }

  /** Creates an account with a first API key, which is shown only once. Requires no key. */
  static signUp(
    { name, ...options }: TransportOptions & SignUpInput,
    { signal }: CallOptions = {},
  ): Promise<NewAccount> {
    return new Transport(null, options).json('POST', '/accounts', { body: { name }, signal });
  }

  /** How many requests remain, as the last response said; null before the first one. */
  get rateLimit(): RateLimit | null {
    return this.#transport.rateLimit;
  }

  /** What happens to the messages of the account, as it happens. Reconnects by itself; ends when the signal is aborted. */
  events(options: EventOptions = {}): AsyncGenerator<MessageEvent, void, undefined> {
    return events(this.#transport, options);
  }
}
