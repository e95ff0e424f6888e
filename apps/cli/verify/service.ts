import { Readable } from 'node:stream';
import { readAtMost } from '../input/streams.js';
import { networkFetch } from '../support/fetch.js';

/** A message as the API returns it. */
export interface MessageView {
  readonly id: string;
  readonly message: string;
  readonly status: string;
  readonly attempts: number;
}

export interface Window {
  readonly name: string;
  readonly remaining: number;
  /** Milliseconds from the response on. */
  readonly resetsInMs: number;
}

export interface ServiceResponse {
  readonly status: number;
  /** Null when it is not JSON. */
  readonly body: Record<string, unknown> | null;
  readonly isProblem: boolean;
  /** Whether it is the failure of a proxy: what Sluice sends has an `X-Request-Id`. */
  readonly isOfProxy: boolean;
  readonly replayed: boolean;
  readonly retryAfterMs: number | null;
  readonly windows: readonly Window[];
}

export const TIMEOUT_MS = 20_000;
/** A page of its messages has less than a megabyte. */
const MAX_BODY_BYTES = 16_777_216;

/** A client of the service under test. Every method rejects when there is no response in time. */
export class Service {
  private readonly fetch = networkFetch();

  /** @param urls of one service; each attempt uses the next one */
  constructor(
    private readonly urls: readonly string[],
    private readonly apiKey: string,
  ) {}

  /** @param attempt chooses the URL */
  sendMessage(message: string, idempotencyKey: string, attempt: number): Promise<ServiceResponse> {
    return this.send('POST', '/messages', { message }, attempt, { 'idempotency-key': idempotencyKey });
  }

  get(path: string, attempt: number): Promise<ServiceResponse> {
    return this.send('GET', path, undefined, attempt);
  }

  async send(
    method: string,
    path: string,
    body: object | undefined,
    attempt: number,
    extraHeaders: Readonly<Record<string, string>> = {},
  ): Promise<ServiceResponse> {
    const response = await this.fetch(`${this.urls[attempt % this.urls.length] ?? ''}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.apiKey}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...extraHeaders,
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { status, headers, body: answered } = response;
    const type = headers.get('content-type') ?? '';
    const retryAfter = headers.get('retry-after');
    return {
      status,
      body: answered === null ? null : parse((await readAtMost(Readable.fromWeb(answered), MAX_BODY_BYTES)).toString()),
      isProblem: type.startsWith('application/problem+json'),
      isOfProxy: status >= 500 && !headers.has('x-request-id'),
      replayed: headers.get('idempotent-replayed') === 'true',
      retryAfterMs: retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : null,
      windows: windowsIn(headers.get('ratelimit') ?? ''),
    };
  }
}

function parse(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    // For example an HTML page of a proxy.
    return null;
  }
}

/** Such as `"minute";r=59;t=42, "day";r=812;t=30211`. */
function windowsIn(header: string): Window[] {
  return [...header.matchAll(/"([^"]+)";r=(\d+);t=(\d+)/g)].map(([, name = '', remaining, seconds]) => ({
    name,
    remaining: Number(remaining),
    resetsInMs: Number(seconds) * 1_000,
  }));
}

/** Why a request got no response, in a word. */
export function reasonOf(error: unknown): string {
  const { name, message, cause } = error as { name?: string; message?: string; cause?: { code?: string } };
  return cause?.code ?? (name === 'TimeoutError' ? 'timeout' : (message ?? 'no response'));
}
