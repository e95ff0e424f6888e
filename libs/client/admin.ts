import type { List } from './list.js';
import { pathOf, type CallOptions, type ListOptions, type OnceOptions, type Transport } from './transport.js';
import type {
  AccountDeletion,
  AccountUsagePeriod,
  ApiKey,
  AuditEntry,
  Ban,
  CreatedAccount,
  NewAccountInput,
  NewApiKey,
  NewApiKeyInput,
  OperatorsAccount,
  OperatorsAccountChanges,
  Plan,
  PlanInput,
  PortalLink,
  PortalLinkInput,
  UsagePeriod,
} from './types.js';
import type { UsageHistoryOptions } from './usage.js';

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

export interface AuditFilter extends ListOptions {
  /** Only changes that concern this account. */
  readonly accountId?: string | undefined;
}

export interface PlanCondition extends CallOptions {
  /** The version that the plan must still have; null if it must not exist yet. Without it, whatever is there is replaced. */
  readonly version?: number | null | undefined;
}

/** For operators: the client's key is one of `ADMIN_API_KEY`. */
export class Admin {
  readonly accounts: Accounts;
  readonly audit: AuditList;
  readonly bans: Bans;
  readonly plans: Plans;

  constructor(transport: Transport) {
    this.accounts = new Accounts(transport);
    this.audit = new AuditList(transport);
    this.bans = new Bans(transport);
    this.plans = new Plans(transport);
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

  /**
   * Creates an account, also while sign-up is closed. Only a call with the same idempotency key gets `apiKey.key` of the
   * result again; with an `externalId`, the account can be found.
   */
  create(input: NewAccountInput, options?: OnceOptions): Promise<CreatedAccount> {
    return this.#transport.json('POST', '/admin/accounts', { ...options, body: input });
  }

  get(id: string, options?: CallOptions): Promise<OperatorsAccount> {
    return this.#transport.json('GET', pathOf`/admin/accounts/${id}`, options);
  }

  /** Changes the name, the plan and its limits, the external id, or whether the account is suspended or paused. */
  update(id: string, changes: OperatorsAccountChanges, options?: CallOptions): Promise<OperatorsAccount> {
    return this.#transport.json('PATCH', pathOf`/admin/accounts/${id}`, { ...options, body: changes });
  }

  /** Deletes an account for good: its keys are unknown at once, and its data is removed in the background. */
  delete(id: string, options?: CallOptions): Promise<AccountDeletion> {
    return this.#transport.json('DELETE', pathOf`/admin/accounts/${id}`, options);
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
  createKey(id: string, input: NewApiKeyInput, options?: OnceOptions): Promise<NewApiKey> {
    return this.#transport.json('POST', pathOf`/admin/accounts/${id}/api-keys`, { ...options, body: input });
  }

  /** Makes a link that opens the portal once, for a customer without a key. It is an API key of the account. */
  createPortalLink(id: string, input: PortalLinkInput, options?: OnceOptions): Promise<PortalLink> {
    return this.#transport.json('POST', pathOf`/admin/accounts/${id}/portal-links`, { ...options, body: input });
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

export class Plans {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** All plans, by name. */
  list(options: ListOptions = {}): List<Plan> {
    return this.#transport.list('/admin/plans', options);
  }

  get(name: string, options?: CallOptions): Promise<Plan> {
    return this.#transport.json('GET', pathOf`/admin/plans/${name}`, options);
  }

  /** Creates a plan or replaces all that it says. A field that is left out becomes null. */
  put(name: string, input: PlanInput, { version, ...options }: PlanCondition = {}): Promise<Plan> {
    const call = { ...options, body: input, headers: conditionOf(version) };
    return this.#transport.json('PUT', pathOf`/admin/plans/${name}`, call);
  }

  /** Deletes a plan that no account has. */
  delete(name: string, { version, ...options }: PlanCondition = {}): Promise<void> {
    const call = { ...options, headers: conditionOf(version) };
    return this.#transport.json('DELETE', pathOf`/admin/plans/${name}`, call);
  }
}

function conditionOf(version: number | null | undefined): Record<string, string> {
  if (version === undefined) return {};
  return version === null ? { 'if-none-match': '*' } : { 'if-match': `"${version}"` };
}

/** What operators have changed. */
export class AuditList {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(options: AuditFilter = {}): List<AuditEntry> {
    return this.#transport.list('/admin/audit', options);
  }
}
