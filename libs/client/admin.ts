import type { ListOptions } from './account.js';
import type { List } from './list.js';
import { pathOf, type CallOptions, type Transport } from './transport.js';
import type { ApiKey, Ban, OperatorsAccount, OperatorsAccountChanges } from './types.js';

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

  list({ limit, cursor, ...options }: ListOptions = {}): List<OperatorsAccount> {
    return this.#transport.list('/admin/accounts', { limit, cursor }, options);
  }

  get(id: string, options?: CallOptions): Promise<OperatorsAccount> {
    return this.#transport.json('GET', pathOf`/admin/accounts/${id}`, options);
  }

  /** Changes the plan, its limits, or whether the account is suspended. */
  update(id: string, changes: OperatorsAccountChanges, options?: CallOptions): Promise<OperatorsAccount> {
    return this.#transport.json('PATCH', pathOf`/admin/accounts/${id}`, { ...options, body: changes });
  }

  /** The keys of an account. */
  keys(id: string, { limit, cursor, ...options }: ListOptions = {}): List<ApiKey> {
    return this.#transport.list(pathOf`/admin/accounts/${id}/api-keys`, { limit, cursor }, options);
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

  list({ limit, cursor, ...options }: ListOptions = {}): List<Ban> {
    return this.#transport.list('/admin/bans', { limit, cursor }, options);
  }

  /** Ends the ban of a key. Earlier bans no longer prolong the next one. */
  lift(keyId: string, options?: CallOptions): Promise<void> {
    return this.#transport.json('DELETE', pathOf`/admin/bans/${keyId}`, options);
  }
}
