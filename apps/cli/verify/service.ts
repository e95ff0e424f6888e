/** A message as the service shows it. */
export interface MessageView {
  readonly id: string;
  readonly message: string;
  readonly status: string;
  readonly attempts: number;
}

export interface Window {
  readonly name: string;
  readonly remaining: number;
  /** Milliseconds from the answer on. */
  readonly resetsInMs: number;
}

export interface Answer {
  readonly status: number;
  /** Null when it was no JSON. */
  readonly body: Record<string, unknown> | null;
  readonly isProblem: boolean;
  readonly replayed: boolean;
  readonly retryAfterMs: number | null;
  readonly windows: readonly Window[];
}

interface Request {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer that doesn't come within this time, in milliseconds, is lost. */
const PATIENCE_MS = 20_000;

/** The service under test, by its public API. Every method rejects when there is no answer. */
export class Service {
  /** @param urls of one service: when one does not answer, the next attempt goes to another */
  constructor(
    private readonly urls: readonly string[],
    private readonly apiKey: string,
  ) {}

  /** @param turn which of the URLs to ask */
  send(message: string, idempotencyKey: string, turn: number): Promise<Answer> {
    return this.ask(turn, '/messages', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: JSON.stringify({ message }),
    });
  }

  get(path: string, turn: number): Promise<Answer> {
    return this.ask(turn, path, { method: 'GET', headers: {} });
  }

  private async ask(turn: number, path: string, request: Request): Promise<Answer> {
    const response = await fetch(`${this.urls[turn % this.urls.length] ?? ''}${path}`, {
      ...request,
      headers: { ...request.headers, authorization: `Bearer ${this.apiKey}` },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const { status, headers } = response;
    const type = headers.get('content-type') ?? '';
    const retryAfter = headers.get('retry-after');
    return {
      status,
      body: parse(await response.text()),
      isProblem: type.startsWith('application/problem+json'),
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
    // A proxy's page, say: whoever asked sees that there is no body.
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

/** Why a request got no answer, in a word. */
export function reasonOf(error: unknown): string {
  const { name, message, cause } = error as { name?: string; message?: string; cause?: { code?: string } };
  return cause?.code ?? (name === 'TimeoutError' ? 'no answer in time' : (message ?? 'no answer'));
}
