export const SCOPES = ['messages:send', 'messages:read', 'account:manage'] as const;
export type Scope = (typeof SCOPES)[number];

/** Live keys of one account. */
export const MAX_KEYS = 100;

/** What is kept of an API key. The key itself is shown once and never stored. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  /** To the minute; null when it was never used. */
  readonly lastUsedAt: Date | null;
}
