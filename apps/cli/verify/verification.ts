import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '#platform/usage-error.js';
import { inspectAnswer } from './answers.js';
import type { Ledger } from './ledger.js';
import { Pacer } from './pacer.js';
import { reckon, type Rule } from './reckoning.js';
import { reasonOf, Service, type Answer, type MessageView } from './service.js';

export interface VerificationOptions {
  /** Addresses of one service. */
  readonly urls: readonly string[];
  readonly apiKey: string;
  readonly callers: number;
  readonly ledger: Ledger;
  /** Most messages to send. */
  readonly maxMessages: number;
  /** Most requests a second, of all callers together. */
  readonly perSecond: number;
}

export interface Report {
  readonly counts: Readonly<Record<'acknowledged' | 'refused' | 'unknown' | 'doubtful' | 'stored', number>>;
  /** How many answers there were of each kind; a request without one counts by what cut it off. */
  readonly answers: ReadonlyMap<string, number>;
  /** Milliseconds. */
  readonly longestPauseMs: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly rules: readonly Rule[];
}

/** The service could not be verified: it did not respond for too long, or not as expected. */
export class CannotVerify extends UsageError {}

/** One in so many requests must be refused. */
const WRONG_EVERY = 50;
/** One in so many acknowledged messages is sent again, to check that it is stored once. */
const AGAIN_EVERY = 50;
/** One in so many messages that met a limit is abandoned, to check that it is not stored. */
const ABANDONED_EVERY = 5;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** The service keeps an Idempotency-Key for 24 hours; one hour is left for clock differences and retries. */
const REPEATABLE_MS = 23 * 3_600_000;
/** How long the service may be unavailable while the stored messages are listed. */
const LISTING_PATIENCE_MS = 60_000;

/**
 * Callers that record every response in a ledger. A request with an unknown outcome is repeated with the same
 * Idempotency-Key until the outcome is known. Afterwards the stored messages are compared with the ledger.
 */
export class Verification {
  private readonly service: Service;
  private readonly pacer: Pacer;
  private readonly ledger: Ledger;
  private readonly answers = new Map<string, number>();
  private readonly unexpected: string[] = [];
  private readonly latencies: number[] = [];
  private lastAcknowledgedAt: number | null = null;
  private longestPauseMs = 0;
  private limited = 0;
  private sending = abortable();
  private callers: Promise<void>[] = [];
  private endsAt = Infinity;

  constructor(private readonly options: VerificationOptions) {
    this.service = new Service(options.urls, options.apiKey);
    this.pacer = new Pacer(options.perSecond);
    this.ledger = options.ledger;
  }

  get acknowledged(): number {
    return this.ledger.entries.filter(({ fate }) => fate === 'acknowledged').length;
  }

  /** The number of responses of a kind, such as `503 unavailable`. */
  count(kind: string): number {
    return this.answers.get(kind) ?? 0;
  }

  /** @param durationMs after which callers send no new messages */
  start(durationMs = Infinity): void {
    this.endsAt = performance.now() + durationMs;
    this.callers = Array.from({ length: this.options.callers }, () => this.call());
  }

  /** Resolves when all callers have ended: the time is up, or the number of messages or a limit is reached. */
  async ended(): Promise<void> {
    await Promise.all(this.callers);
  }

  /** Sends no new messages, and repeats requests with an unknown outcome for at most `patienceMs`. */
  async stop(patienceMs: number): Promise<void> {
    this.endsAt = performance.now();
    const timer = setTimeout(() => {
      this.sending.abort();
    }, patienceMs);
    await this.ended();
    clearTimeout(timer);
  }

  /**
   * Repeats the requests whose outcome an earlier process left unknown, for at most `patienceMs`.
   * @param now by the service's clock
   * @throws CannotVerify when the Idempotency-Keys may have expired, so that messages would be stored twice
   */
  async takeUp(patienceMs: number, now: Date): Promise<void> {
    const unknown = this.ledger.all('unknown');
    if (unknown.length > 0 && now.getTime() - this.ledger.begunAt.getTime() > REPEATABLE_MS) {
      throw new CannotVerify(
        `The ledger was begun more than 23 hours ago, and the outcome of ${unknown.length} of its messages is unknown. ` +
          'Their Idempotency-Keys may have lapsed, so to repeat them could store them twice: it cannot be judged any more.',
      );
    }
    const open = unknown.values();
    this.callers = Array.from({ length: this.options.callers }, async () => {
      for (const n of open) await this.pursue(n);
    });
    await this.stop(patienceMs);
    this.sending = abortable();
  }

  /**
   * Compares the stored messages with the ledger.
   * @param patienceMs how long to wait for deliveries that are under way
   * @throws CannotVerify when the messages cannot be listed
   */
  async reckon(patienceMs: number): Promise<Report> {
    const deadline = performance.now() + patienceMs;
    let stored = await this.stored();
    while (stored.some(isOpen) && performance.now() < deadline) {
      await sleep(500);
      if (!(await this.anyOpen())) stored = await this.stored();
    }
    if (stored.some(isOpen)) stored = await this.stored();
    const { entries } = this.ledger;
    this.latencies.sort((a, b) => a - b);
    return {
      counts: {
        acknowledged: this.acknowledged,
        refused: this.ledger.all('refused').length,
        unknown: this.ledger.all('unknown').length,
        doubtful: entries.filter(({ doubtful }) => doubtful).length,
        stored: stored.length,
      },
      answers: this.answers,
      longestPauseMs: Math.round(this.longestPauseMs),
      medianMs: Math.round(this.latencies[this.latencies.length >> 1] ?? 0),
      p99Ms: Math.round(this.latencies[Math.floor(this.latencies.length * 0.99)] ?? 0),
      rules: reckon(this.ledger, stored, this.unexpected),
    };
  }

  private async call(): Promise<void> {
    for (;;) {
      const { entries } = this.ledger;
      if (entries.length >= this.options.maxMessages) return;
      // Reserves the requests that list the messages at the end.
      if (!(await this.pacer.turn(this.endsAt, { reserve: 10 + Math.ceil(entries.length / 50) }))) return;
      const wrong = entries.length % WRONG_EVERY === WRONG_EVERY - 1;
      const n = this.ledger.begin(wrong);
      await this.pursue(n, true);
      if (n % AGAIN_EVERY === 0 && entries[n]?.fate === 'acknowledged') await this.pursue(n);
    }
  }

  /** Sends a message until its outcome is known. */
  private async pursue(n: number, hasTurn = false): Promise<void> {
    const again = this.ledger.entries[n]?.fate === 'acknowledged';
    const { signal } = this.sending;
    for (let attempt = 0; ; attempt++) {
      if (!(hasTurn && attempt === 0) && !(await this.pacer.turn(Infinity, { signal }))) return;
      const answer = await this.attempt(n, attempt, again);
      if (answer === 'known') return;
      const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt) * (0.5 + Math.random() / 2);
      // It rejects when the callers are to end, which the next iteration checks.
      await sleep(Math.max(pauseMs, answer), undefined, { signal }).catch(() => undefined);
    }
  }

  /** @returns 'known' when the outcome is known, otherwise the milliseconds that the service asks to wait */
  private async attempt(n: number, attempt: number, again: boolean): Promise<'known' | number> {
    const { ledger } = this;
    const wrong = ledger.entries[n]?.wrong === true;
    const text = wrong ? `${ledger.textOf(n)} \u0000` : ledger.textOf(n);
    const begun = performance.now();
    let answer: Answer;
    try {
      answer = await this.service.send(text, ledger.keyOf(n), n + attempt);
    } catch (error) {
      this.pacer.note(null);
      this.note(reasonOf(error));
      if (!again) ledger.unknown(n, reasonOf(error));
      return 0;
    }
    this.pacer.note(answer);
    this.note(`${answer.status}${answer.isProblem ? ` ${String(answer.body?.code)}` : ''}`);
    const { fate, fault } = inspectAnswer(answer, { wrong, again });
    if (fault !== null) this.unexpected.push(fault);
    switch (fate) {
      case 'acknowledged':
        this.noteAcknowledged(begun);
        ledger.acknowledged(n, String(answer.body?.id));
        return 'known';
      case 'refused':
        if (!again) ledger.refused(n, answer.status);
        return 'known';
      case 'limited':
        if (!again && ledger.entries[n]?.doubtful === false && ++this.limited % ABANDONED_EVERY === 0) {
          ledger.refused(n, answer.status);
          return 'known';
        }
        return answer.retryAfterMs ?? LONGEST_PAUSE_MS;
      case 'unknown':
        if (!again) ledger.unknown(n, String(answer.status));
        return answer.retryAfterMs ?? 0;
    }
  }

  private noteAcknowledged(begun: number): void {
    const now = performance.now();
    this.latencies.push(now - begun);
    if (this.lastAcknowledgedAt !== null) {
      this.longestPauseMs = Math.max(this.longestPauseMs, now - this.lastAcknowledgedAt);
    }
    this.lastAcknowledgedAt = now;
  }

  private note(kind: string): void {
    this.answers.set(kind, (this.answers.get(kind) ?? 0) + 1);
  }

  /** The stored messages of this run. */
  private async stored(): Promise<MessageView[]> {
    // One hour more than the run lasted, for clock differences.
    const oldest = this.ledger.begunAt.getTime() - 3_600_000;
    const messages: MessageView[] = [];
    let cursor: string | null = null;
    do {
      const page = await this.page(`limit=100${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
      messages.push(...page.data.filter(({ message }) => this.ledger.numberOf(message) !== null));
      const last = page.data.at(-1);
      cursor = last === undefined || Date.parse(last.createdAt) < oldest ? null : page.nextCursor;
    } while (cursor !== null);
    return messages;
  }

  private async anyOpen(): Promise<boolean> {
    const pages = await Promise.all(['queued', 'processing'].map((status) => this.page(`limit=100&status=${status}`)));
    return pages.some(({ data }) => data.some(({ message }) => this.ledger.numberOf(message) !== null));
  }

  private async page(query: string): Promise<Page> {
    const deadline = performance.now() + LISTING_PATIENCE_MS;
    for (let attempt = 0; ; attempt++) {
      // The window of a limit may be longer than LISTING_PATIENCE_MS.
      if (!(await this.pacer.turn(performance.now() + 3_600_000))) {
        throw new CannotVerify('The limit of the account leaves no request to look at what is stored.');
      }
      const answer = await this.service.get(`/messages?${query}`, attempt).catch(reasonOf);
      this.pacer.note(typeof answer === 'string' ? null : answer);
      if (typeof answer !== 'string') {
        if (answer.status === 200) return answer.body as unknown as Page;
        if (answer.status === 429) continue;
      }
      const said = typeof answer === 'string' ? answer : `${answer.status} ${String(answer.body?.code)}`;
      if (performance.now() > deadline || said.startsWith('4')) {
        throw new CannotVerify(`What is stored could not be listed: GET /messages was answered ${said}.`);
      }
      await sleep(200);
    }
  }
}

interface Page {
  readonly data: readonly (MessageView & { readonly createdAt: string })[];
  readonly nextCursor: string | null;
}

/** Every caller adds a listener. */
function abortable(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

function isOpen({ status }: MessageView): boolean {
  return status === 'queued' || status === 'processing';
}
