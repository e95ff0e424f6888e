import { DomainError } from '#kernel/domain-error.js';

export const SCOPES = ['messages:send', 'messages:read', 'messages:consume', 'account:manage'] as const;
export type Scope = (typeof SCOPES)[number];

/** Live keys of one account. */
export const MAX_KEYS = 100;

/** How long a key that was rotated may remain valid. */
export const MAX_GRACE_SECONDS = 30 * 86_400;

/** The stored part of an API key. The key itself is shown once and never stored; key-secrets.ts says how it looks. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** How the key begins and ends, see `hintOf`; null for one that was created before hints were stored. */
  readonly hint: string | null;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  /** To the minute; null when it was never used. */
  readonly lastUsedAt: Date | null;
}

/** What is stored of a key for its next rotation. */
export interface Rotation {
  /** When it was last rotated; null if never. */
  readonly rotatedAt: Date | null;
  /** The expiry that it was created with, which the end of its grace has replaced; null if none, or if never rotated. */
  readonly createdToExpireAt: Date | null;
}

/**
 * When a key that is rotated expires: with its grace, or earlier if it would have expired. The key may be rotated again
 * until then: its successor gets the expiry that the key was created with, not the end of a grace.
 */
export function rotateExpiry(
  { expiresAt, rotatedAt, createdToExpireAt }: Pick<ApiKey, 'expiresAt'> & Rotation,
  graceEndsAt: Date,
): { readonly expiresAt: Date; readonly successorExpiresAt: Date | null } {
  return {
    expiresAt: expiresAt !== null && expiresAt < graceEndsAt ? expiresAt : graceEndsAt,
    successorExpiresAt: rotatedAt === null ? expiresAt : createdToExpireAt,
  };
}

/** The beginning and the end of a key, which leave 140 of its 160 random bits unknown. */
export function hintOf(key: string): string {
  return `${key.slice(0, 8)}…${key.slice(-4)}`;
}

/**
 * A key can create and rotate only keys with scopes that it has itself.
 * @throws DomainError `insufficient_scope`
 */
export function assertCanGrant(scopes: readonly string[], granted: readonly Scope[]): void {
  const missing = granted.filter((scope) => !scopes.includes(scope));
  if (missing.length > 0) {
    const detail = `Use an API key with the scope ${missing.join(', ')}: a key can only grant scopes that it has.`;
    throw new DomainError('insufficient_scope', detail);
  }
}

export function apiKeyNotFound(): DomainError {
  return new DomainError('api_key_not_found', 'The account has no active key with this id.');
}

export function portalLinkNotFound(): DomainError {
  const detail = 'The link was used, has expired or was revoked. Ask whoever gave it to you for another one.';
  return new DomainError('portal_link_not_found', detail);
}

export function tooManyKeys(): DomainError {
  return new DomainError('too_many_keys', `An account can have at most ${MAX_KEYS} active keys. Revoke one first.`);
}
