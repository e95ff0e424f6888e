import { createHash } from 'node:crypto';
import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import { Message, type NewMessage } from '../domain/message.js';
import type { AcceptedBatch, Messages } from './messages.js';
import type { StorageCap } from './storage-cap.js';

/** Takes several messages in, all or none. When it resolves, they are stored and will be queued, whatever happens. */
export class SendBatch {
  constructor(
    private readonly messages: Messages,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly storage: StorageCap,
  ) {}

  /**
   * @param wishes at least one
   * @throws ValidationError when one of them can't be a message
   * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_use` or `unavailable`
   */
  async execute(
    accountId: string,
    wishes: readonly NewMessage[],
    idempotencyKey: string | null,
  ): Promise<AcceptedBatch> {
    const at = this.clock.now();
    // Sorted, so that lists by id have the messages in the order in which they were sent.
    const ids = wishes.map(() => this.ids.next('msg', at)).sort();
    const batch = wishes.map((wish, index) => Message.queue(ids[index] ?? '', accountId, wish, at));
    const idempotency = idempotencyKey === null ? null : { key: idempotencyKey, fingerprint: fingerprintOf(wishes) };
    const accepted = await this.messages.addBatch(batch, idempotency);
    if (!accepted.replayed) this.storage.count(batch);
    return accepted;
  }
}

function fingerprintOf(wishes: readonly NewMessage[]): Buffer {
  const meaning = wishes.map(({ text, deliverAt = null }) => [text, deliverAt]);
  return createHash('sha256')
    .update(`batch:${JSON.stringify(meaning)}`)
    .digest();
}
