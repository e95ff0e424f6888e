import { setTimeout as sleep } from 'node:timers/promises';

interface MessageView {
  readonly id: string;
  readonly message: string;
  readonly status: string;
  readonly attempts: number;
}

/**
 * Callers that write down what they were told. Each repeats a request whose outcome it doesn't know, with the same
 * Idempotency-Key, until it is told: so after any fault there must be exactly one message for each key.
 */
export class Ledger {
  /** Message ids by idempotency key: what was acknowledged with 202. */
  readonly acknowledged = new Map<string, string>();
  /** Answers that no fault excuses. */
  readonly unexpected: string[] = [];
  unknown = 0;
  private stopping = false;
  private callers: Promise<void>[] = [];

  constructor(
    private readonly url: string,
    private readonly apiKey: string,
  ) {}

  start(callers: number): void {
    this.callers = Array.from({ length: callers }, (_, index) => this.call(index));
  }

  /** Takes no more on; resolves when every caller knows the outcome of its last request. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.callers);
  }

  /** Everything stored, oldest last. */
  async stored(): Promise<MessageView[]> {
    const messages: MessageView[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query = cursor === '' ? '' : `&cursor=${cursor}`;
      const response = await fetch(`${this.url}/messages?limit=100${query}`, { headers: this.headers() });
      const page = (await response.json()) as { data: MessageView[]; nextCursor: string | null };
      messages.push(...page.data);
      cursor = page.nextCursor;
    }
    return messages;
  }

  /** Resolves when nothing is under way any more, or after `deadlineMs`. */
  async settled(deadlineMs: number): Promise<void> {
    const deadline = Date.now() + deadlineMs;
    while (Date.now() < deadline) {
      const open = await Promise.all(['queued', 'processing'].map((status) => this.hasAny(status)));
      if (!open.includes(true)) return;
      await sleep(200);
    }
  }

  /** What is wrong, as sentences; none when every promise was kept. */
  async reckon(): Promise<string[]> {
    const stored = await this.stored();
    const byId = new Map(stored.map((message) => [message.id, message]));
    const texts = new Set(stored.map(({ message }) => message));
    const wrong = [...this.unexpected];
    if (texts.size !== stored.length) wrong.push(`${stored.length - texts.size} messages are stored twice`);
    for (const [key, id] of this.acknowledged) {
      const message = byId.get(id);
      if (message === undefined) wrong.push(`${id} was acknowledged and is lost`);
      else if (message.message !== key) wrong.push(`${id} holds another message`);
      else if (message.status !== 'delivered') wrong.push(`${id} is ${message.status}`);
    }
    if (stored.length !== this.acknowledged.size) {
      wrong.push(`${stored.length} are stored, ${this.acknowledged.size} were acknowledged`);
    }
    return wrong;
  }

  private async hasAny(status: string): Promise<boolean> {
    const response = await fetch(`${this.url}/messages?limit=1&status=${status}`, { headers: this.headers() });
    return ((await response.json()) as { data: unknown[] }).data.length > 0;
  }

  private async call(caller: number): Promise<void> {
    for (let count = 0; !this.stopping; count++) {
      const key = `caller-${caller}-message-${count}`;
      while (!(await this.send(key))) await sleep(100);
    }
  }

  /** @returns false when the outcome is unknown */
  private async send(key: string): Promise<boolean> {
    try {
      const response = await fetch(`${this.url}/messages`, {
        method: 'POST',
        headers: { ...this.headers(), 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({ message: key }),
        signal: AbortSignal.timeout(15_000),
      });
      const body = (await response.json()) as { id: string; code?: string };
      if (response.status === 202) {
        this.acknowledged.set(key, body.id);
        return true;
      }
      if (response.status !== 503) this.unexpected.push(`answered ${response.status} ${body.code ?? ''}`);
    } catch {
      // Refused, reset or cut off: this is what the faults do.
    }
    this.unknown++;
    return false;
  }

  private headers(): Record<string, string> {
    return { authorization: `Bearer ${this.apiKey}` };
  }
}
