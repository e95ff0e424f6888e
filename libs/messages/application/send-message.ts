import { createHash } from 'node:crypto';
import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import { Message } from '../domain/message.js';
import type { Accepted, Messages } from './messages.js';

/** Takes a message in. When it resolves, the message is stored and will be queued, whatever happens. */
export class SendMessage {
  constructor(
    private readonly messages: Messages,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws ValidationError when the text can't be a message
   * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_use` or `unavailable`
   */
  execute(
    accountId: string,
    text: string,
    idempotencyKey: string | null,
    traceparent: string | null,
  ): Promise<Accepted> {
    const at = this.clock.now();
    const message = Message.queue(this.ids.next('msg', at), accountId, text, at, traceparent);
    return this.messages.add(message, idempotencyKey === null ? null : { key: idempotencyKey, fingerprint: of(text) });
  }
}

// What counts as the same request is what it means, not how its JSON is laid out.
function of(text: string): Buffer {
  return createHash('sha256').update(`send:${text}`).digest();
}
