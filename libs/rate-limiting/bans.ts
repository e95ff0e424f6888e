export interface Ban {
  readonly keyId: string;
  readonly accountId: string;
  readonly reason: string;
  readonly bannedAt: Date;
  readonly bannedUntil: Date;
}

/** Keys that are banned for a while, for operators to see and to lift. */
export abstract class Bans {
  /**
   * Those in force, in the descending order of their keys' ids.
   * @param before only those after this one
   */
  abstract list(page: { readonly limit: number; readonly before: string | null }): Promise<Ban[]>;

  /**
   * Ends a ban and forgets those before it, so that the next one does not double.
   * @throws DomainError `ban_not_found`
   */
  abstract lift(keyId: string): Promise<void>;

  /** Forgets what no longer matters: no ban within a day, no strikes within a minute. */
  abstract forget(): Promise<void>;
}
