import { hash as digest } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#kernel/clock.js';
import { DomainError } from '#kernel/domain-error.js';
import type { Scope } from '../domain/api-key.js';
import type { Accounts, FoundKey } from './accounts.js';
import type { KeySecrets } from './key-secrets.js';
import type { LastUse } from './last-use.js';

/** Milliseconds that "there is no such key" may be trusted: a key that was just issued must work at once elsewhere. */
const UNKNOWN_FRESH_MS = 900;
/** A key that was found is confirmed, by its epoch, with every hit of the limiter; this only bounds what is kept. */
const KNOWN_FRESH_MS = 600_000;
/** A question that was asked this many milliseconds ago may still be answered with what a refresh is meant to replace. */
const JOIN_MS = 50;
const MAX_CACHED = 50_000;

/** What may come of looking at who is calling. */
export const AUTHENTICATION_OUTCOMES = ['valid', 'invalid', 'missing', 'operator', 'unavailable'] as const;
export type AuthenticationOutcome = (typeof AUTHENTICATION_OUTCOMES)[number];

/** Must be told once for each request. */
export type Authenticated = (outcome: AuthenticationOutcome) => void;
export const AUTHENTICATED = Symbol('authenticated');

/** Who is calling, as far as a request needs to know. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly epoch: number;
}

interface Looked {
  readonly found: FoundKey | null;
}

interface Question {
  /** In milliseconds of `performance.now()`. */
  readonly askedAt: number;
  readonly answer: Promise<Looked>;
}

/**
 * Tells who presents an API key, from memory where it can. What it remembers may be out of date: whoever acts on it
 * confirms the epoch with the limiter, and asks for a refresh when that has moved on.
 */
export class AuthenticateCaller {
  private readonly cache = new LRUCache<string, Looked>({ max: MAX_CACHED });
  private readonly questions = new Map<string, Question>();

  constructor(
    private readonly accounts: Accounts,
    private readonly secrets: KeySecrets,
    private readonly clock: Clock,
    private readonly lastUse: LastUse,
  ) {}

  /**
   * @returns null for a malformed, unknown, expired or revoked key
   * @throws DomainError `unavailable` when the store can't be asked
   */
  async execute(presented: string): Promise<Caller | null> {
    const name = nameOf(presented);
    const cached = this.cache.get(name);
    if (cached !== undefined) return this.caller(cached);
    const hash = this.secrets.hash(presented);
    return hash === null ? null : this.caller(await this.lookUp(name, hash));
  }

  /** The same, but undefined instead of asking the store. */
  remembered(presented: string): Caller | null | undefined {
    const cached = this.cache.get(nameOf(presented));
    if (cached !== undefined) return this.caller(cached);
    return this.secrets.isOurs(presented) ? undefined : null;
  }

  /** The same, but asks the store in any case. */
  async refresh(presented: string): Promise<Caller | null> {
    const hash = this.secrets.hash(presented);
    return hash === null ? null : this.caller(await this.lookUp(nameOf(presented), hash, JOIN_MS));
  }

  private caller({ found }: Looked): Caller | null {
    if (found === null) return null;
    const { key, epoch } = found;
    const now = this.clock.now();
    if (key.expiresAt !== null && key.expiresAt <= now) return null;
    this.lastUse.note(key.id, now);
    return { accountId: key.accountId, keyId: key.id, scopes: key.scopes, epoch };
  }

  // Requests that arrive while a key is being looked up wait for the same answer, unless it was asked for too long ago.
  private lookUp(name: string, hash: Buffer, joinMs = Infinity): Promise<Looked> {
    const askedAt = performance.now();
    const underway = this.questions.get(name);
    if (underway !== undefined && askedAt - underway.askedAt <= joinMs) return underway.answer;
    const answer = this.accounts
      .findKey(hash)
      .then((found) => {
        const looked = { found };
        // The age counts from the question: what changed while the answer was on its way is not in it.
        const ttl = found === null ? UNKNOWN_FRESH_MS : KNOWN_FRESH_MS;
        this.cache.set(name, looked, { start: askedAt, ttl });
        return looked;
      })
      .finally(() => {
        if (this.questions.get(name)?.answer === answer) this.questions.delete(name);
      });
    this.questions.set(name, { askedAt, answer });
    return answer;
  }
}

// What is remembered must not hold keys. Whether one was issued here, and under which hash it is kept, takes two HMACs:
// this takes a twentieth of their time, and is asked with each request.
function nameOf(presented: string): string {
  return digest('sha256', presented, 'base64');
}

export function unauthorized(): DomainError {
  return new DomainError('unauthorized', 'Send a valid API key: Authorization: Bearer <API_KEY>.');
}
