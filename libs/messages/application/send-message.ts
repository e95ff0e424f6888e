import { createHash } from 'node:crypto';
import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import { Message, type NewMessage } from '../domain/message.js';
import type { Accepted, Messages } from './messages.js';
import type { StorageCap } from './storage-cap.js';

/** Accepts a message. When it resolves, the message is stored and will be queued, whatever happens. */
export class SendMessage {
  constructor(
    private readonly messages: Messages,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly storage: StorageCap,
  ) {}

  /** @throws DomainError `idempotency_key_reused`, `idempotency_key_in_use` or `unavailable` */
  async execute(accountId: string, input: NewMessage, idempotencyKey: string | null): Promise<Accepted> {
    const at = this.clock.now();
    const message = Message.queue(this.ids.next('msg', at), accountId, input, at);
    const idempotency = idempotencyKey === null ? null : { key: idempotencyKey, fingerprint: fingerprintOf(input) };
    const accepted = await this.messages.add(message, idempotency);
    if (!accepted.replayed) this.storage.count([message]);
    return accepted;
  }
}

// Requests are equal if they mean the same, however their JSON is formatted.
function fingerprintOf({ text, deliverAt = null }: NewMessage): Buffer {
  const meaning = deliverAt === null ? `send:${text}` : `send-at:${deliverAt.toISOString()}:${text}`;
  return createHash('sha256').update(meaning).digest();
}
