import type { Clock } from '#kernel/clock.js';
import { DomainError, ValidationError } from '#kernel/domain-error.js';
import type { Ids } from '#kernel/ids.js';
import { nameFault } from '../domain/account.js';
import { MAX_KEYS, type ApiKey, type Scope } from '../domain/api-key.js';
import type { Accounts, Page } from './accounts.js';
import type { KeySecrets } from './key-secrets.js';
import type { LastUse } from './last-use.js';

/** A key with its only appearance in the clear. */
export interface IssuedKey {
  readonly apiKey: ApiKey;
  readonly key: string;
}

export interface KeyWish {
  readonly name: string;
  /** Null for all scopes of the key that asks. */
  readonly scopes: readonly Scope[] | null;
  readonly expiresAt: Date | null;
}

interface Asking {
  readonly accountId: string;
  readonly scopes: readonly string[];
}

export class CreateApiKey {
  constructor(
    private readonly accounts: Accounts,
    private readonly secrets: KeySecrets,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws ValidationError when the name can't be one or the expiry is not in the future
   * @throws DomainError `insufficient_scope` when more is wished for than the asking key may do
   * @throws DomainError `too_many_keys`
   */
  async execute(asking: Asking, wish: KeyWish): Promise<IssuedKey> {
    const at = this.clock.now();
    const fault = nameFault(wish.name);
    if (fault !== null) throw new ValidationError([{ pointer: '/name', detail: fault }]);
    if (wish.expiresAt !== null && wish.expiresAt <= at) {
      throw new ValidationError([{ pointer: '/expiresAt', detail: 'expiresAt must be in the future.' }]);
    }
    mayPassOn(asking, wish.scopes ?? []);
    const apiKey: ApiKey = {
      id: this.ids.next('key', at),
      accountId: asking.accountId,
      name: wish.name,
      scopes: wish.scopes ?? (asking.scopes as readonly Scope[]),
      createdAt: at,
      expiresAt: wish.expiresAt,
      lastUsedAt: null,
    };
    const { key, hash } = this.secrets.issue();
    if (!(await this.accounts.addKey(apiKey, hash))) throw tooManyKeys();
    return { apiKey, key };
  }
}

export class RotateApiKey {
  constructor(
    private readonly accounts: Accounts,
    private readonly secrets: KeySecrets,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * Issues a key in the place of another: a new id, the same name, scopes and expiry.
   * @param graceSeconds how long the old one goes on working
   * @throws DomainError `insufficient_scope` when it may do more than the asking key
   * @throws DomainError `api_key_not_found`; `too_many_keys` when both may not live side by side
   */
  async execute(asking: Asking, keyId: string, graceSeconds: number): Promise<IssuedKey> {
    const at = this.clock.now();
    const { key, hash } = this.secrets.issue();
    const endsAt = new Date(at.getTime() + graceSeconds * 1_000);
    const apiKey = await this.accounts.replaceKey(asking.accountId, keyId, at, endsAt, hash, (old) => {
      mayPassOn(asking, old.scopes);
      return { ...old, id: this.ids.next('key', at), createdAt: at, lastUsedAt: null };
    });
    if (apiKey === null) throw apiKeyNotFound();
    if (apiKey === false) throw tooManyKeys();
    return { apiKey, key };
  }
}

export class RevokeApiKey {
  constructor(
    private readonly accounts: Accounts,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `api_key_not_found` */
  async execute(accountId: string, keyId: string): Promise<void> {
    if (!(await this.accounts.revokeKey(accountId, keyId, this.clock.now()))) throw apiKeyNotFound();
  }
}

export class ListApiKeys {
  constructor(
    private readonly accounts: Accounts,
    private readonly lastUse: LastUse,
  ) {}

  /** Newest first. */
  async execute(accountId: string, page: Page): Promise<ApiKey[]> {
    await this.lastUse.flush();
    return this.accounts.listKeys(accountId, page);
  }
}

/** Nobody gets a key that may do more than the one they have. */
function mayPassOn(asking: Asking, scopes: readonly Scope[]): void {
  const beyond = scopes.filter((scope) => !asking.scopes.includes(scope));
  if (beyond.length > 0) {
    throw new DomainError('insufficient_scope', `The key you use has no ${beyond.join(', ')} to pass on.`);
  }
}

function apiKeyNotFound(): DomainError {
  return new DomainError('api_key_not_found', 'The account has no live key with this id.');
}

function tooManyKeys(): DomainError {
  return new DomainError('too_many_keys', `An account has at most ${MAX_KEYS} live keys. Revoke one first.`);
}
