import type { Clock } from '#kernel/clock.js';
import { ValidationError } from '#kernel/domain-error.js';
import type { Ids } from '#kernel/ids.js';
import { idempotencyOfBatch } from '../../domain/idempotency.js';
import { Message, type SendingTerms } from '../../domain/message.js';
import { batchError } from '../../domain/message-batch.js';
import type { MessageContent } from '../../domain/message-content.js';
import type { Accepted, Messages } from '../messages.js';
import type { AdmitSending } from '../storage/admit-sending.js';
import type { StorageCap } from '../storage/storage-cap.js';

/**
 * Accepts several messages, all or none. When it resolves, they are stored durably and will be queued, even after a
 * crash.
 */
export class SendBatch {
  constructor(
    private readonly messages: Messages,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly admission: AdmitSending,
    private readonly storage: StorageCap,
  ) {}

  /**
   * @throws ValidationError when there are none, or more than `MAX_BATCH`
   * @throws DomainError `storage_full`, `idempotency_key_reused`, `idempotency_key_in_use` or `unavailable`
   */
  async execute(
    accountId: string,
    contents: readonly MessageContent[],
    terms: SendingTerms,
    key: string | null,
  ): Promise<Accepted> {
    const detail = batchError(contents.length);
    if (detail !== null) throw new ValidationError([{ pointer: '/messages', detail }]);
    const admitted = this.admission.execute(accountId, key);
    if (admitted !== undefined) await admitted;
    const at = this.clock.now();
    // Sorted, so that lists, which are ordered by id, keep the order of the batch.
    const ids = contents.map(() => this.ids.next('msg', at)).sort();
    const batch = contents.map((content, index) => Message.queue(ids[index] ?? '', accountId, content, terms, at));
    const accepted = await this.messages.add(batch, idempotencyOfBatch(key, contents));
    if (!accepted.replayed) this.storage.count(batch, accepted.deliveries);
    return accepted;
  }
}
