import type { Messages } from '../messages.js';
import type { StorageCap } from './storage-cap.js';

/** Decides whether an account may store more messages. A request whose key was used stores nothing. */
export class AdmitSending {
  constructor(
    private readonly storage: StorageCap,
    private readonly messages: Pick<Messages, 'hasKey'>,
  ) {}

  /**
   * @returns undefined, at once, while there is room
   * @throws DomainError `storage_full`, or `unavailable` while the store has too little space
   */
  execute(accountId: string, idempotencyKey: string | null): Promise<void> | undefined {
    return this.storage.hasRoom(accountId) ? undefined : this.admit(accountId, idempotencyKey);
  }

  private async admit(accountId: string, key: string | null): Promise<void> {
    if (key === null || !(await this.messages.hasKey(accountId, key))) this.storage.requireRoom(accountId);
  }
}
