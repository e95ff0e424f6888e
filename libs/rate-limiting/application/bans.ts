import type { Page } from '#kernel/page.js';

export interface Ban {
  readonly keyId: string;
  readonly accountId: string;
  readonly reason: string;
  readonly bannedAt: Date;
  readonly bannedUntil: Date;
}

/** By the ids of the keys. */
export interface BanPage extends Page {
  /** Only bans of keys of this account. */
  readonly accountId: string | null;
}

/** Keys that are banned for a limited time. Operators list and lift bans. */
export abstract class Bans {
  /** Those in force, in descending order of the keys' ids. */
  abstract list(page: BanPage): Promise<Ban[]>;

  /**
   * Ends a ban and deletes those before it, so that the next one is a first one. It takes part in a transaction of
   * `Repositories.together`.
   * @returns the ban
   * @throws DomainError `ban_not_found`
   */
  abstract lift(keyId: string): Promise<Ban>;

  /** Deletes what has no effect any more: no ban within a day, no strikes within a minute, no window that refuses. */
  abstract deleteExpired(): Promise<void>;
}
