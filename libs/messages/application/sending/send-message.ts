import { createHash } from 'node:crypto';
import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import { Message, type NewMessage } from '../../domain/message.js';
import type { Messages } from '../messages.js';
import type { StorageCap } from '../storage/storage-cap.js';

export interface Sent {
  /** As it was accepted, now or when the key was first used. */
  readonly message: Message;
  readonly replayed: boolean;
}

/** Accepts a message. When it resolves, the message is stored and will be queued, whatever happens. */
export class SendMessage {
  constructor(
    private readonly messages: Messages,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly storage: StorageCap,
  ) {}

  /** @throws DomainError `idempotency_key_reused`, `idempotency_key_in_use` or `unavailable` */
  async execute(accountId: string, input: NewMessage, idempotencyKey: string | null): Promise<Sent> {
    const at = this.clock.now();
    const message = Message.queue(this.ids.next('msg', at), accountId, input, at);
    const idempotency = idempotencyKey === null ? null : { key: idempotencyKey, fingerprint: fingerprintOf(input) };
    const accepted = await this.messages.add([message], idempotency);
    if (!accepted.replayed) this.storage.count([message], accepted.deliveries);
    return { message: accepted.messages[0] ?? message, replayed: accepted.replayed };
  }
}

// Requests are equal if they mean the same, however their JSON is formatted.
function fingerprintOf({ text, deliverAt = null }: NewMessage): Buffer {
  const meaning = deliverAt === null ? `send:${text}` : `send-at:${deliverAt.toISOString()}:${text}`;
  return createHash('sha256').update(meaning).digest();
}
