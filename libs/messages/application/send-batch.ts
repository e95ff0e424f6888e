import { createHash } from 'node:crypto';
import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import { Message, type NewMessage } from '../domain/message.js';
import type { AcceptedBatch, Messages } from './messages.js';
import type { StorageCap } from './storage-cap.js';

/** Accepts several messages, all or none. When it resolves, they are stored and will be queued, whatever happens. */
export class SendBatch {
  constructor(
    private readonly messages: Messages,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly storage: StorageCap,
  ) {}

  /**
   * @param inputs at least one
   * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_use` or `unavailable`
   */
  async execute(
    accountId: string,
    inputs: readonly NewMessage[],
    idempotencyKey: string | null,
  ): Promise<AcceptedBatch> {
    const at = this.clock.now();
    // Sorted, so that lists, which are ordered by id, keep the order of the batch.
    const ids = inputs.map(() => this.ids.next('msg', at)).sort();
    const batch = inputs.map((input, index) => Message.queue(ids[index] ?? '', accountId, input, at));
    const idempotency = idempotencyKey === null ? null : { key: idempotencyKey, fingerprint: fingerprintOf(inputs) };
    const accepted = await this.messages.addBatch(batch, idempotency);
    if (!accepted.replayed) this.storage.count(batch);
    return accepted;
  }
}

function fingerprintOf(inputs: readonly NewMessage[]): Buffer {
  const meaning = inputs.map(({ text, deliverAt = null }) => [text, deliverAt]);
  return createHash('sha256')
    .update(`batch:${JSON.stringify(meaning)}`)
    .digest();
}
