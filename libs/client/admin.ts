import type { List } from './list.js';
import { pathOf, type CallOptions, type ListOptions, type Transport } from './transport.js';
import type {
  AccountDeletion,
  ApiKey,
  Ban,
  CreatedAccount,
  NewAccountInput,
  NewApiKey,
  NewApiKeyInput,
  OperatorsAccount,
  OperatorsAccountChanges,
} from './types.js';

export interface AccountFilter extends ListOptions {
  /** Only accounts that are suspended. */
  readonly suspended?: true | undefined;
  /** Only accounts whose name contains this, in upper or lower case. */
  readonly name?: string | undefined;
  /** Only the account with this external id. */
  readonly externalId?: string | undefined;
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

  list({ suspended, name, externalId, limit, cursor, ...options }: AccountFilter = {}): List<OperatorsAccount> {
    return this.#transport.list('/admin/accounts', { suspended, name, externalId, limit, cursor }, options);
  }

  /**
   * Creates an account, also while sign-up is closed. `apiKey.key` of the result is shown only once. Never repeated when its
   * outcome is unknown; with an `externalId`, the account can then be found.
   */
  create(input: NewAccountInput, options?: CallOptions): Promise<CreatedAccount> {
    return this.#transport.json('POST', '/admin/accounts', { ...options, body: input });
  }

  get(id: string, options?: CallOptions): Promise<OperatorsAccount> {
    return this.#transport.json('GET', pathOf`/admin/accounts/${id}`, options);
  }

  /** Changes the name, the plan and its limits, the external id, or whether the account is suspended. */
  update(id: string, changes: OperatorsAccountChanges, options?: CallOptions): Promise<OperatorsAccount> {
    return this.#transport.json('PATCH', pathOf`/admin/accounts/${id}`, { ...options, body: changes });
  }

  /** Deletes an account for good: its keys are unknown at once, and its data is removed in the background. */
  delete(id: string, options?: CallOptions): Promise<AccountDeletion> {
    return this.#transport.json('DELETE', pathOf`/admin/accounts/${id}`, options);
  }

  /** The keys of an account. */
  keys(id: string, { limit, cursor, ...options }: ListOptions = {}): List<ApiKey> {
    return this.#transport.list(pathOf`/admin/accounts/${id}/api-keys`, { limit, cursor }, options);
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

  list({ accountId, limit, cursor, ...options }: BanFilter = {}): List<Ban> {
    return this.#transport.list('/admin/bans', { accountId, limit, cursor }, options);
  }

  /** Ends the ban of a key. Earlier bans no longer prolong the next one. */
  lift(keyId: string, options?: CallOptions): Promise<void> {
    return this.#transport.json('DELETE', pathOf`/admin/bans/${keyId}`, options);
  }
}
