import type { Clock } from '#kernel/clock.js';
import { DomainError } from '#kernel/domain-error.js';
import type { Ids } from '#kernel/ids.js';
import { accountNotFound } from '../domain/account.js';
import { hintOf, portalLinkNotFound, tooManyKeys, type ApiKey, type Scope } from '../domain/api-key.js';
import type { Accounts } from './accounts.js';
import type { IssuedKey } from './create-api-key.js';
import type { KeySecrets } from './key-secrets.js';

/**
 * Links to the portal. A link is an API key that nobody has yet: what is stored is the hash of a token, and when the token
 * is exchanged, the hash of a key takes its place. So it is listed, revoked, suspended and deleted as keys are, and
 * nothing is left by which to exchange the token again.
 */
export class PortalLinks {
  constructor(
    private readonly accounts: Accounts,
    private readonly secrets: KeySecrets,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * For operators.
   * @param seconds until the link expires, and the key with it
   * @returns the token as `key`
   * @throws DomainError `account_not_found` or `too_many_keys`
   */
  async create(accountId: string, scopes: readonly Scope[], seconds: number): Promise<IssuedKey> {
    const createdAt = this.clock.now();
    const { key, hash } = this.secrets.issue('link');
    const apiKey: ApiKey = {
      id: this.ids.next('key', createdAt),
      accountId,
      name: 'Portal link',
      hint: hintOf(key),
      scopes,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + seconds * 1_000),
      lastUsedAt: null,
    };
    const added = await this.accounts.addKey(apiKey, hash, 'operator');
    if (added === null) throw accountNotFound();
    if (!added) throw tooManyKeys();
    return { apiKey, key };
  }

  /**
   * Exchanges the token of a link, once.
   * @throws DomainError `portal_link_not_found`, or `account_suspended`: it can then be exchanged later
   */
  async open(token: string): Promise<IssuedKey> {
    const old = this.secrets.hash(token, 'link');
    if (old === null) throw portalLinkNotFound();
    const found = await this.accounts.findKey(old);
    if (found?.key.expiresAt == null || found.key.expiresAt <= this.clock.now()) throw portalLinkNotFound();
    if (found.suspended)
      throw new DomainError('account_suspended', 'The operator of this service has suspended the account.');
    const { key, hash } = this.secrets.issue();
    const apiKey = { ...found.key, hint: hintOf(key) };
    if (!(await this.accounts.exchangeSecret(apiKey, old, hash))) throw portalLinkNotFound();
    return { apiKey, key };
  }
}
