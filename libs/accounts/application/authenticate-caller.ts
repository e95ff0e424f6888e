import type { Caller } from '#kernel/caller.js';
import { hash as digest } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { atMost } from '#kernel/cache-size.js';
import type { Clock } from '#kernel/clock.js';
import { DomainError } from '#kernel/domain-error.js';
import type { Accounts, FoundKey } from './accounts.js';
import type { KeySecrets } from './key-secrets.js';
import type { LastUsedTracker } from './last-used-tracker.js';

/** How long an unknown key is cached: a key that was just issued must work on every process within a second. */
const UNKNOWN_TTL_MS = 900;
/** The limiter confirms a known key with every hit, by its epoch, so this only bounds what the cache holds. */
const KNOWN_TTL_MS = 600_000;
/** A refresh does not join a lookup older than this, which may return what the refresh is meant to replace. */
const JOIN_MS = 50;
/** An entry takes about half a KiB. Beyond this many keys in use, each request would look up its key. */
const MAX_CACHED = 200_000;

export const AUTHENTICATION_OUTCOMES = ['valid', 'invalid', 'missing', 'operator', 'unavailable'] as const;
export type AuthenticationOutcome = (typeof AUTHENTICATION_OUTCOMES)[number];

/** Must be called once for each request. */
export type Authenticated = (outcome: AuthenticationOutcome) => void;
export const AUTHENTICATED = Symbol('authenticated');

/** What is cached of a key: only what requests need, as there are many. */
interface CacheEntry {
  readonly caller: Caller | null;
  readonly expiresAt: Date | null;
  /** The minute of its last use, as the tracker returned it. */
  usedMinute?: number;
}

interface Lookup {
  /** In milliseconds of `performance.now()`. */
  readonly startedAt: number;
  readonly result: Promise<CacheEntry>;
}

/**
 * Resolves API keys to callers, from a cache where possible. A cached caller may be outdated: the limiter checks its
 * epoch, and asks for a refresh when that has moved.
 */
export class AuthenticateCaller {
  private readonly cache = new LRUCache<string, CacheEntry>(atMost(MAX_CACHED));
  private readonly lookups = new Map<string, Lookup>();

  constructor(
    private readonly accounts: Pick<Accounts, 'findKey'>,
    private readonly secrets: KeySecrets,
    private readonly clock: Clock,
    private readonly lastUsed: LastUsedTracker,
  ) {}

  /**
   * @returns null for a malformed, unknown, expired or revoked key
   * @throws DomainError `unavailable` when the database cannot be reached
   */
  async execute(key: string): Promise<Caller | null> {
    const cacheKey = cacheKeyOf(key);
    const cached = this.cache.get(cacheKey);
    if (cached !== undefined) return this.toCaller(cached);
    const hash = this.secrets.hash(key);
    return hash === null ? null : this.toCaller(await this.lookUp(cacheKey, hash));
  }

  /** The same without the database; undefined where that would be needed. */
  cached(key: string): Caller | null | undefined {
    const cached = this.cache.get(cacheKeyOf(key));
    if (cached !== undefined) return this.toCaller(cached);
    return this.secrets.isOurs(key) ? undefined : null;
  }

  /** The same, always from the database. */
  async refresh(key: string): Promise<Caller | null> {
    const hash = this.secrets.hash(key);
    return hash === null ? null : this.toCaller(await this.lookUp(cacheKeyOf(key), hash, JOIN_MS));
  }

  private toCaller(entry: CacheEntry): Caller | null {
    const { caller, expiresAt } = entry;
    if (caller === null) return null;
    const now = this.clock.now();
    if (expiresAt !== null && expiresAt <= now) return null;
    entry.usedMinute = this.lastUsed.record(caller.keyId, now, entry.usedMinute);
    return caller;
  }

  // Concurrent requests with the same key share one lookup, unless it started more than `joinMs` ago.
  private lookUp(cacheKey: string, hash: Buffer, joinMs = Infinity): Promise<CacheEntry> {
    const startedAt = performance.now();
    const inProgress = this.lookups.get(cacheKey);
    if (inProgress !== undefined && startedAt - inProgress.startedAt <= joinMs) return inProgress.result;
    const result = this.accounts
      .findKey(hash)
      .then((found) => {
        const entry = toEntry(found, this.cache.peek(cacheKey)?.usedMinute);
        // The age counts from the start of the lookup: changes since then may be missing from its result.
        const ttl = found === null ? UNKNOWN_TTL_MS : KNOWN_TTL_MS;
        this.cache.set(cacheKey, entry, { start: startedAt, ttl });
        return entry;
      })
      .finally(() => {
        if (this.lookups.get(cacheKey)?.result === result) this.lookups.delete(cacheKey);
      });
    this.lookups.set(cacheKey, { startedAt, result });
    return result;
  }
}

function toEntry(found: FoundKey | null, usedMinute = NaN): CacheEntry {
  if (found === null) return { caller: null, expiresAt: null };
  const { key, epoch, suspended, delivery } = found;
  const { id: keyId, accountId, scopes, expiresAt } = key;
  return { caller: { accountId, keyId, scopes, epoch, suspended, delivery }, expiresAt, usedMinute };
}

// The cache must not contain keys. A plain hash takes a twentieth of the time of the keyed hash and the MAC.
function cacheKeyOf(key: string): string {
  return digest('sha256', key, 'base64');
}

export function unauthorized(): DomainError {
  return new DomainError('unauthorized', 'Send a valid API key: Authorization: Bearer <API_KEY>.');
}
