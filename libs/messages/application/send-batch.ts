import { createHash } from 'node:crypto';
import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import { Message, type NewMessage } from '../domain/message.js';
import type { Accepted, Messages } from './messages.js';
import type { DeliveryTargets, Sender } from './delivery-targets.js';
import type { StorageCap } from './storage-cap.js';

/** The number of messages that a batch may have. */
export const MAX_BATCH = 1_000;

/** Accepts several messages, all or none. When it resolves, they are stored and will be queued, whatever happens. */
export class SendBatch {
  constructor(
    private readonly messages: Messages,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly storage: StorageCap,
    private readonly targets: DeliveryTargets,
  ) {}

  /**
   * @param inputs at least one, at most `MAX_BATCH`
   * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_use` or `unavailable`
   */
  async execute(sender: Sender, inputs: readonly NewMessage[], idempotencyKey: string | null): Promise<Accepted> {
    const { accountId } = sender;
    const at = this.clock.now();
    // Sorted, so that lists, which are ordered by id, keep the order of the batch.
    const ids = inputs.map(() => this.ids.next('msg', at)).sort();
    const batch = inputs.map((input, index) => Message.queue(ids[index] ?? '', accountId, input, at));
    const idempotency = idempotencyKey === null ? null : { key: idempotencyKey, fingerprint: fingerprintOf(inputs) };
    const targets = inputs[0]?.delivery === 'webhooks' ? await this.targets.of(sender) : [];
    const accepted = await this.messages.add(batch, idempotency, targets);
    if (!accepted.replayed) this.storage.count(batch, targets.length);
    return accepted;
  }
}

function fingerprintOf(inputs: readonly NewMessage[]): Buffer {
  const meaning = inputs.map(({ text, deliverAt = null }) => [text, deliverAt]);
  return createHash('sha256')
    .update(`batch:${JSON.stringify(meaning)}`)
    .digest();
}
