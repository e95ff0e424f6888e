import type { List } from './list.js';
import { pathOf, type CallOptions, type ListOptions, type OnceOptions, type Transport } from './transport.js';
import type {
  Account,
  AccountChanges,
  ApiKey,
  NewApiKey,
  NewApiKeyInput,
  SimulateInput,
  Simulation,
  Usage,
  UsagePeriod,
} from './types.js';
import type { UsageHistoryOptions } from './usage.js';

/** The account of the API key. */
export class AccountResource {
  readonly keys: ApiKeys;
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
    this.keys = new ApiKeys(transport);
  }

  get(options?: CallOptions): Promise<Account> {
    return this.#transport.json('GET', '/account', { ...options, field: 'plan' });
  }

  /** Changes the name, how messages that are accepted from now on are delivered, and whether messages are delivered at all. */
  update(changes: AccountChanges, options?: CallOptions): Promise<Account> {
    return this.#transport.json('PATCH', '/account', { ...options, body: changes, field: 'plan' });
  }

  /** What is used of the limits and of the storage. */
  usage(options?: CallOptions): Promise<Usage> {
    return this.#transport.json('GET', '/account/usage', options);
  }

  /** What was accepted in each hour or day, by the time of acceptance: oldest first, without empty periods. */
  usageHistory(options: UsageHistoryOptions = {}): List<UsagePeriod> {
    return this.#transport.list('/account/usage/history', options);
  }

  /** Which requests of a schedule the limits would admit. Sends nothing. */
  simulate(schedule: SimulateInput, options?: CallOptions): Promise<Simulation> {
    return this.#transport.json('POST', '/account/simulate', { ...options, body: schedule, repeatable: true });
  }
}

export class ApiKeys {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The keys that are not revoked, newest first, without their secrets. */
  list(options: ListOptions = {}): List<ApiKey> {
    return this.#transport.list('/api-keys', options);
  }

  /** The key of this client: what it may do, and until when. */
  current(options?: CallOptions): Promise<ApiKey> {
    return this.#transport.json('GET', '/api-keys/current', options);
  }

  /** `key` of the result is the secret, which only a call with the same idempotency key gets again. */
  create(input: NewApiKeyInput, options?: OnceOptions): Promise<NewApiKey> {
    return this.#transport.json('POST', '/api-keys', { ...options, body: input, field: 'key' });
  }

  /**
   * Replaces a key by a new one, which only a call with the same idempotency key gets again.
   * @param input.graceSeconds for how long the old key remains valid: 0 by default
   */
  rotate(
    id: string,
    input: { readonly graceSeconds?: number | undefined } = {},
    options?: OnceOptions,
  ): Promise<NewApiKey> {
    return this.#transport.json('POST', pathOf`/api-keys/${id}/rotate`, { ...options, body: input, field: 'key' });
  }

  /** At once and for good. */
  revoke(id: string, options?: CallOptions): Promise<void> {
    return this.#transport.json('DELETE', pathOf`/api-keys/${id}`, options);
  }
}
