import { accountNotFound } from '../domain/account.js';
import type { Deletions, NewDeletion } from './deletions.js';

export interface DeletionObserver {
  /** An operator has deleted an account. */
  requested(accountId: string): void;
  /** Everything that was stored of it is removed. */
  finished(accountId: string): void;
  /** A step failed; it is tried again. */
  failed(error: unknown): void;
}

export class DeleteAccount {
  constructor(
    private readonly deletions: Deletions,
    private readonly observer: Pick<DeletionObserver, 'requested'>,
  ) {}

  /**
   * Harmless for an account that is deleted already.
   * @throws DomainError `account_not_found` when there never was such an account
   */
  async execute(id: string): Promise<NewDeletion> {
    const deletion = await this.deletions.request(id);
    if (deletion === null) throw accountNotFound();
    if (deletion.isNew) this.observer.requested(id);
    return deletion;
  }
}
