import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import { idempotencyOf } from '../../domain/idempotency.js';
import { Message, type SendingTerms } from '../../domain/message.js';
import type { MessageContent } from '../../domain/message-content.js';
import type { Messages } from '../messages.js';
import type { AdmitSending } from '../storage/admit-sending.js';
import type { StorageCap } from '../storage/storage-cap.js';

export interface Sent {
  /** As it was accepted, now or when the key was first used. */
  readonly message: Message;
  readonly replayed: boolean;
}

/** Accepts a message. When it resolves, the message is stored durably and will be queued, even after a crash. */
export class SendMessage {
  constructor(
    private readonly messages: Messages,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly admission: AdmitSending,
    private readonly storage: StorageCap,
  ) {}

  /** @throws DomainError `storage_full`, `idempotency_key_reused`, `idempotency_key_in_use` or `unavailable` */
  async execute(accountId: string, content: MessageContent, terms: SendingTerms, key: string | null): Promise<Sent> {
    const admitted = this.admission.execute(accountId, key);
    if (admitted !== undefined) await admitted;
    const at = this.clock.now();
    const message = Message.queue(this.ids.next('msg', at), accountId, content, terms, at);
    const accepted = await this.messages.add([message], idempotencyOf(key, content));
    if (!accepted.replayed) this.storage.count([message], accepted.deliveries);
    return { message: accepted.messages[0] ?? message, replayed: accepted.replayed };
  }
}
