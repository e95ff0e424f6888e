import { createHash } from 'node:crypto';
import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import { Message, type NewMessage } from '../../domain/message.js';
import type { Accepted, Messages } from '../messages.js';
import type { StorageCap } from '../storage/storage-cap.js';

/** The number of messages that a batch may have. */
export const MAX_BATCH = 1_000;

/** Accepts several messages, all or none. When it resolves, they are stored and will be queued, whatever happens. */
export class SendBatch {
  constructor(
    private readonly messages: Messages,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly storage: StorageCap,
  ) {}

  /**
   * @param inputs at least one, at most `MAX_BATCH`
   * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_use` or `unavailable`
   */
  async execute(accountId: string, inputs: readonly NewMessage[], idempotencyKey: string | null): Promise<Accepted> {
    const at = this.clock.now();
    // Sorted, so that lists, which are ordered by id, keep the order of the batch.
    const ids = inputs.map(() => this.ids.next('msg', at)).sort();
    const batch = inputs.map((input, index) => Message.queue(ids[index] ?? '', accountId, input, at));
    const idempotency = idempotencyKey === null ? null : { key: idempotencyKey, fingerprint: fingerprintOf(inputs) };
    const accepted = await this.messages.add(batch, idempotency);
    if (!accepted.replayed) this.storage.count(batch, accepted.deliveries);
    return accepted;
  }
}

function fingerprintOf(inputs: readonly NewMessage[]): Buffer {
  const meaning = inputs.map(({ text, deliverAt = null }) => [text, deliverAt]);
  return createHash('sha256')
    .update(`batch:${JSON.stringify(meaning)}`)
    .digest();
}
