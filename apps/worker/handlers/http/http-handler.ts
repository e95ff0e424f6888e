import type { OnApplicationShutdown } from '@nestjs/common';
import {
  GiveUp,
  MessageHandler,
  OutgoingConnections,
  RetryDelivery,
  retryAfterMs,
  type Delivery,
} from '#delivery/index.js';

/** 4xx statuses that may succeed later. */
const TRANSIENT = [408, 425, 429];

/** Posts each message to a URL. Any 2xx is a delivery; redirects are not followed. */
export class HttpHandler extends MessageHandler implements OnApplicationShutdown {
  // The status decides. The body is read only to free the connection for the next message; a long one closes it.
  private readonly connections = new OutgoingConnections({ isAllowed: () => true, keptBytes: 0 });
  private readonly origin: string;
  private readonly path: string;
  private readonly headers: Readonly<Record<string, string>>;

  constructor({ origin, pathname, search, username, password }: URL) {
    super();
    this.origin = origin;
    this.path = pathname + search;
    const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    this.headers = {
      'content-type': 'text/plain; charset=utf-8',
      ...(username + password !== '' && { authorization: `Basic ${credentials.toString('base64')}` }),
    };
  }

  async handle({ id, message, attempt, traceparent }: Delivery, signal: AbortSignal): Promise<void> {
    const headers = {
      ...this.headers,
      'idempotency-key': id,
      'x-attempt': String(attempt),
      ...(traceparent !== null && { traceparent }),
    };
    const request = { path: this.path, headers, body: message };
    const { status, headers: answered } = await this.connections
      .post(this.origin, request, signal)
      .catch((error: unknown) => {
        // The sender can read the reason, so it must not contain details of the network.
        throw signal.aborted ? error : new Error('The receiver cannot be reached.', { cause: error });
      });
    if (status >= 200 && status < 300) return;
    const reason = `The receiver returned ${status}.`;
    if (status < 500 && !TRANSIENT.includes(status)) throw new GiveUp(reason);
    const afterMs = retryAfterMs(answered['retry-after']);
    throw afterMs === null ? new Error(reason) : new RetryDelivery(reason, afterMs);
  }

  onApplicationShutdown(): Promise<void> {
    return this.connections.close();
  }
}
