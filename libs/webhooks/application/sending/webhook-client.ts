export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a receiver answered. */
export interface Answer {
  readonly status: number;
  /** The first KiB. */
  readonly body: string;
  /** What the header `Retry-After` asks for; null without a valid one. */
  readonly retryAfterMs: number | null;
}

/** Posts to URLs that accounts choose. It reaches only public addresses, unless private ones are allowed. */
export abstract class WebhookClient {
  /** Whether a URL names a host that is never reached: an address that is not public. Names are not looked up. */
  abstract isForbidden(url: string): boolean;

  /**
   * Follows no redirect. Ends within WEBHOOK_TIMEOUT_MS; the answer counts when its headers have arrived.
   * @throws Error when there is no answer, with a reason for the account
   */
  abstract post(request: WebhookRequest): Promise<Answer>;
}
