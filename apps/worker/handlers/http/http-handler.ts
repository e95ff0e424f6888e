import type { OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'undici';
import { GiveUp, MessageHandler, RetryDelivery, type Delivery } from '#delivery/index.js';

/** 4xx statuses that may succeed later. */
const TRANSIENT = [408, 425, 429];
/** A response body that stops for this long costs the receiver its connection. */
const BODY_TIMEOUT_MS = 5_000;

/** Posts each message to a URL. Any 2xx is a delivery; redirects are not followed. */
export class HttpHandler extends MessageHandler implements OnApplicationShutdown {
  /** Opens a connection only while all others are busy, so there are at most WORKER_CONCURRENCY, which are kept alive. */
  private readonly receiver: Pool;
  private readonly path: string;
  private readonly headers: Readonly<Record<string, string>>;

  constructor({ origin, pathname, search, username, password }: URL) {
    super();
    // The signal ends a request at the deadline of its attempt, so undici needs no separate timeout for the status.
    this.receiver = new Pool(origin, { headersTimeout: 0, bodyTimeout: BODY_TIMEOUT_MS });
    this.path = pathname + search;
    const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    this.headers = {
      'content-type': 'text/plain; charset=utf-8',
      ...(username !== '' && { authorization: `Basic ${credentials.toString('base64')}` }),
    };
  }

  async handle({ id, message, attempt, traceparent }: Delivery, signal: AbortSignal): Promise<void> {
    const headers = {
      ...this.headers,
      'idempotency-key': id,
      'x-attempt': String(attempt),
      ...(traceparent !== null && { traceparent }),
    };
    const request = { method: 'POST', path: this.path, headers, body: message, signal } as const;
    const response = await this.receiver.request(request).catch((error: unknown) => {
      // The sender can read the reason, so it must not contain details of the network.
      throw signal.aborted ? error : new Error('The receiver cannot be reached.', { cause: error });
    });
    // The status decides. The body is read only to free the connection for the next message; a long one closes it.
    void response.body.dump();
    const { statusCode: status } = response;
    if (status >= 200 && status < 300) return;
    const reason = `The receiver returned ${status}.`;
    if (status < 500 && !TRANSIENT.includes(status)) throw new GiveUp(reason);
    const afterMs = retryAfterMs(response.headers['retry-after']);
    throw afterMs === null ? new Error(reason) : new RetryDelivery(reason, afterMs);
  }

  onApplicationShutdown(): Promise<void> {
    return this.receiver.destroy();
  }
}

/** @param text seconds or an HTTP date */
export function retryAfterMs(text: string | string[] | undefined, now = Date.now()): number | null {
  if (typeof text !== 'string') return null;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
