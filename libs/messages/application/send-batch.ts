import { createHash } from 'node:crypto';
import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import { Message } from '../domain/message.js';
import type { AcceptedBatch, Messages } from './messages.js';

/** Takes several messages in, all or none. When it resolves, they are stored and will be queued, whatever happens. */
export class SendBatch {
  constructor(
    private readonly messages: Messages,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * @param texts at least one
   * @throws ValidationError when a text can't be a message
   * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_use` or `unavailable`
   */
  execute(
    accountId: string,
    texts: readonly string[],
    idempotencyKey: string | null,
    traceparent: string | null,
  ): Promise<AcceptedBatch> {
    const at = this.clock.now();
    // Sorted, so that lists by id have the messages in the order in which they were sent.
    const ids = texts.map(() => this.ids.next('msg', at)).sort();
    const batch = texts.map((text, index) => Message.queue(ids[index] ?? '', accountId, text, at, traceparent));
    const idempotency = idempotencyKey === null ? null : { key: idempotencyKey, fingerprint: fingerprintOf(texts) };
    return this.messages.addBatch(batch, idempotency);
  }
}

function fingerprintOf(texts: readonly string[]): Buffer {
  return createHash('sha256')
    .update(`batch:${JSON.stringify(texts)}`)
    .digest();
}
