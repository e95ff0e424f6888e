import { GiveUp, MessageHandler, RetryDelivery, type Delivery } from '#messages/index.js';

/** 4xx statuses that may succeed later. */
const TRANSIENT = [408, 425, 429];

/** Posts each message to a URL. Any 2xx is a delivery; redirects are not followed. */
export class HttpHandler extends MessageHandler {
  constructor(private readonly url: URL) {
    super();
  }

  async handle({ id, message, attempt, traceparent }: Delivery, signal: AbortSignal): Promise<void> {
    const headers = {
      'content-type': 'text/plain; charset=utf-8',
      'idempotency-key': id,
      'x-attempt': String(attempt),
      ...(traceparent !== null && { traceparent }),
    };
    const request = { method: 'POST', headers, body: message, redirect: 'manual', signal } as const;
    const response = await fetch(this.url, request).catch((error: unknown) => {
      // The sender can read the reason, so it must not contain details of the network.
      throw signal.aborted ? error : new Error('The receiver cannot be reached.', { cause: error });
    });
    // The body is not used. The connection can be reused if a short body has already arrived; otherwise it closes.
    await response.body?.cancel();
    if (response.ok) return;
    const reason = `The receiver returned ${response.status}.`;
    if (response.status < 500 && !TRANSIENT.includes(response.status)) throw new GiveUp(reason);
    const afterMs = retryAfterMs(response.headers.get('retry-after'));
    throw afterMs === null ? new Error(reason) : new RetryDelivery(reason, afterMs);
  }
}

/** @param text seconds or an HTTP date */
export function retryAfterMs(text: string | null, now = Date.now()): number | null {
  if (text === null) return null;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
