import type { List } from './list.js';
import { pathOf, type CallOptions, type ListOptions, type OnceOptions, type Transport } from './transport.js';
import type {
  AcceptedMessage,
  Attempt,
  FailedFilter,
  Message,
  MessageDelivery,
  MessageStatus,
  NewMessage,
  QueuedFilter,
  Time,
} from './types.js';

export interface SendOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters, kept for 24 hours: another call with the same key and message creates no second
   * message. By default each call has its own key, which its retries share.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface MessageFilter extends ListOptions {
  /** Only messages of this type, or with `order.*` of all types that begin with `order.`. */
  readonly type?: string | undefined;
  /** Only messages that were accepted at this time or later. */
  readonly since?: Time | undefined;
  /** Only messages that were accepted before this time. */
  readonly until?: Time | undefined;
  readonly status?: MessageStatus | undefined;
  /**
   * Only messages with a delivery to this endpoint. A status that is given with it, `delivered` or `failed`, is then that
   * of the delivery.
   */
  readonly endpointId?: string | undefined;
  /** Cuts texts to so many characters, 1 to 1,000. A message whose text was cut has `truncated: true`. */
  readonly preview?: number | undefined;
}

/** The messages of the account. */
export class Messages {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Sends a message: its text, or all of its fields. When this resolves, it is stored and queued. */
  send(message: string, options?: SendOptions & Omit<NewMessage, 'message'>): Promise<AcceptedMessage>;
  send(message: NewMessage, options?: SendOptions): Promise<AcceptedMessage>;
  send(
    message: string | NewMessage,
    options: SendOptions & Omit<NewMessage, 'message'> = {},
  ): Promise<AcceptedMessage> {
    const { idempotencyKey, signal, onResponse, ...fields } = options;
    const body = { ...fields, ...(typeof message === 'string' ? { message } : message) };
    return this.#post('/messages', body, 'id', { idempotencyKey, signal, onResponse });
  }

  /** Sends up to 1,000 messages: all of them are stored, or none. Each counts as one request. */
  async sendBatch(messages: readonly NewMessage[], options: SendOptions = {}): Promise<AcceptedMessage[]> {
    const { data } = await this.#post<{ data: AcceptedMessage[] }>('/messages/batch', { messages }, 'data', options);
    return data;
  }

  get(id: string, options?: CallOptions): Promise<Message> {
    return this.#transport.json('GET', pathOf`/messages/${id}`, options);
  }

  /** The messages of the account, newest first. */
  list(options: MessageFilter = {}): List<Message> {
    return this.#transport.list('/messages', options);
  }

  /** The attempts to deliver a message, the newest last. */
  attempts(id: string, options?: CallOptions): Promise<Attempt[]> {
    return this.#transport.items('GET', pathOf`/messages/${id}/attempts`, options);
  }

  /** How far a message is at each endpoint, the oldest endpoint first. */
  deliveries(id: string, options?: CallOptions): Promise<MessageDelivery[]> {
    return this.#transport.items('GET', pathOf`/messages/${id}/deliveries`, options);
  }

  /** Cancels a message that is `queued`. */
  cancel(id: string, options?: OnceOptions): Promise<Message> {
    return this.#transport.json('POST', pathOf`/messages/${id}/cancel`, options);
  }

  /**
   * Cancels the `queued` messages that match all of a filter, by default all of them; the 1,000,000 oldest at most: repeat
   * it until `count` is less.
   */
  cancelAll(filter: QueuedFilter = {}, options?: OnceOptions): Promise<{ count: number }> {
    return this.#transport.json('POST', '/messages/cancel', { ...options, body: filter });
  }

  /** Queues a `failed` message again. */
  retry(id: string, options?: OnceOptions): Promise<Message> {
    return this.#transport.json('POST', pathOf`/messages/${id}/retry`, options);
  }

  /**
   * Queues the `failed` messages of a period again, by default those of every type; the 100,000 oldest at most: repeat it
   * until `count` is less.
   */
  retryAll(filter: FailedFilter, options?: OnceOptions): Promise<{ count: number }> {
    return this.#transport.json('POST', '/messages/retry', { ...options, body: filter });
  }

  async #post<T>(path: string, body: unknown, field: string, options: SendOptions): Promise<T> {
    const idempotencyKey = options.idempotencyKey ?? randomKey();
    return this.#transport.json('POST', path, { ...options, body, idempotencyKey, field });
  }
}

/** `crypto.randomUUID` is missing on pages that were not loaded by HTTPS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
