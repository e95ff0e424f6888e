import type { List } from './list.js';
import { pathOf, type CallOptions, type ListOptions, type Transport } from './transport.js';
import type {
  AccountUsagePeriod,
  ApiKey,
  Ban,
  NewApiKey,
  NewApiKeyInput,
  OperatorsAccount,
  OperatorsAccountChanges,
  UsagePeriod,
} from './types.js';
import type { UsageHistoryOptions } from './usage.js';

export interface AccountFilter extends ListOptions {
  /** Only accounts that are suspended. */
  readonly suspended?: true | undefined;
}

export interface BanFilter extends ListOptions {
  /** Only bans of keys of this account. */
  readonly accountId?: string | undefined;
}

/** For operators: the client's key is their `ADMIN_API_KEY`. */
export class Admin {
  readonly accounts: Accounts;
  readonly bans: Bans;

  constructor(transport: Transport) {
    this.accounts = new Accounts(transport);
    this.bans = new Bans(transport);
  }
}

export class Accounts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(options: AccountFilter = {}): List<OperatorsAccount> {
    return this.#transport.list('/admin/accounts', options);
  }

  get(id: string, options?: CallOptions): Promise<OperatorsAccount> {
    return this.#transport.json('GET', pathOf`/admin/accounts/${id}`, options);
  }

  /** Changes the plan, its limits, or whether the account is suspended. */
  update(id: string, changes: OperatorsAccountChanges, options?: CallOptions): Promise<OperatorsAccount> {
    return this.#transport.json('PATCH', pathOf`/admin/accounts/${id}`, { ...options, body: changes });
  }

  /** What was accepted from each account in each hour or day: oldest first, then by account. */
  usage(options: UsageHistoryOptions = {}): List<AccountUsagePeriod> {
    return this.#transport.list('/admin/usage', options);
  }

  /** What was accepted from an account in each hour or day, also from one that was deleted. */
  usageHistory(id: string, options: UsageHistoryOptions = {}): List<UsagePeriod> {
    return this.#transport.list(pathOf`/admin/accounts/${id}/usage/history`, options);
  }

  /** The keys of an account. */
  keys(id: string, options: ListOptions = {}): List<ApiKey> {
    return this.#transport.list(pathOf`/admin/accounts/${id}/api-keys`, options);
  }

  /** Makes a key for an account, for example for one that has lost its keys. `key` of the result is shown only once. */
  createKey(id: string, input: NewApiKeyInput, options?: CallOptions): Promise<NewApiKey> {
    return this.#transport.json('POST', pathOf`/admin/accounts/${id}/api-keys`, { ...options, body: input });
  }

  /** Revokes a key of an account, also its last one. */
  revokeKey(id: string, keyId: string, options?: CallOptions): Promise<void> {
    return this.#transport.json('DELETE', pathOf`/admin/accounts/${id}/api-keys/${keyId}`, options);
  }
}

export class Bans {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(options: BanFilter = {}): List<Ban> {
    return this.#transport.list('/admin/bans', options);
  }

  /** Ends the ban of a key. Earlier bans no longer prolong the next one. */
  lift(keyId: string, options?: CallOptions): Promise<void> {
    return this.#transport.json('DELETE', pathOf`/admin/bans/${keyId}`, options);
  }
}
