import { LRUCache } from 'lru-cache';
import { DomainError } from '#kernel/domain-error.js';
import type { Clock } from '#kernel/clock.js';
import type { ApiKey, Scope } from '../domain/api-key.js';
import type { Accounts } from './accounts.js';
import type { KeySecrets } from './key-secrets.js';

/** Milliseconds that a look-up may be trusted: a revoked key must fail everywhere within a second. */
const FRESH_MS = 900;
const MAX_CACHED = 50_000;

/** Who is calling, as far as a request needs to know. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
}

/** What a look-up found; `key` is null for a key that was revoked. */
interface Found {
  readonly key: ApiKey | null;
}

/** Tells who presents an API key. */
export class AuthenticateCaller {
  private readonly cache = new LRUCache<string, Found>({ max: MAX_CACHED, ttl: FRESH_MS });
  private readonly lookups = new Map<string, Promise<Found>>();

  constructor(
    private readonly accounts: Accounts,
    private readonly secrets: KeySecrets,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError `unauthorized`, the same for a malformed, unknown, expired and revoked key
   * @throws DomainError `unavailable` when the store can't be asked
   */
  async execute(presented: string): Promise<Caller> {
    const hash = this.secrets.hash(presented);
    if (hash === null) throw unauthorized();
    const name = hash.toString('base64');
    const { key } = this.cache.get(name) ?? (await this.lookUp(name, hash));
    if (key === null || (key.expiresAt !== null && key.expiresAt <= this.clock.now())) throw unauthorized();
    return { accountId: key.accountId, keyId: key.id, scopes: key.scopes };
  }

  // Requests that arrive while a key is being looked up wait for the same answer.
  private lookUp(name: string, hash: Buffer): Promise<Found> {
    const underway = this.lookups.get(name);
    if (underway !== undefined) return underway;
    // The age counts from the question: what changed while the answer was on its way is not in it.
    const start = performance.now();
    const lookup = this.accounts
      .findKey(hash)
      .then((key) => {
        const found = { key };
        this.cache.set(name, found, { start });
        return found;
      })
      .finally(() => this.lookups.delete(name));
    this.lookups.set(name, lookup);
    return lookup;
  }
}

export function unauthorized(): DomainError {
  return new DomainError('unauthorized', 'Send a valid API key: Authorization: Bearer <API_KEY>.');
}
