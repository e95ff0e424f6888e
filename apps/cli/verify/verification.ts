import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '#platform/process/usage-error.js';
import { AccountChanges } from './account-changes.js';
import { checkGuarantees, type Guarantee } from './check-guarantees.js';
import { checkResponse } from './check-response.js';
import type { Consumers } from './consumers.js';
import type { Ledger } from './ledger.js';
import { PullConsumers } from './pull-consumers.js';
import { reasonOf, Service, type ServiceResponse } from './service.js';
import { isOpen, StoredMessages } from './stored-messages.js';
import { Throttle } from './throttle.js';
import { WebhookReceiver } from './webhook-receiver.js';

interface VerificationOptions {
  /** Addresses of one service. */
  readonly urls: readonly string[];
  readonly apiKey: string;
  readonly callers: number;
  readonly ledger: Ledger;
  /** The maximum number of messages to send. */
  readonly maxMessages: number;
  /** The maximum number of requests a second, of all callers together. */
  readonly perSecond: number;
  /** The URL of its receiver of webhooks; undefined for a free port of this machine. */
  readonly receive?: string | undefined;
}

export interface Report {
  readonly counts: Readonly<Record<'acknowledged' | 'refused' | 'unknown' | 'doubtful' | 'stored', number>>;
  /** The number of responses of each kind; a request without one counts under its error. */
  readonly responses: ReadonlyMap<string, number>;
  /** Milliseconds. */
  readonly longestPauseMs: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly guarantees: readonly Guarantee[];
}

/** One in so many requests must be refused. */
const INVALID_EVERY = 50;
/** One in so many acknowledged messages is sent again, to check that it is stored once. */
const REPEATED_EVERY = 50;
/** One in so many messages that met a limit is abandoned, to check that it is not stored. */
const ABANDONED_EVERY = 5;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** The service keeps an Idempotency-Key for 24 hours; one hour is left for clock differences and retries. */
const REPEATABLE_MS = 23 * 3_600_000;

/**
 * Callers that record every response in a ledger. A request with an unknown outcome is repeated with the same
 * Idempotency-Key until the outcome is known. Afterwards the stored messages are compared with the ledger.
 */
export class Verification {
  private readonly service: Service;
  private readonly throttle: Throttle;
  private readonly ledger: Ledger;
  private readonly responses = new Map<string, number>();
  private readonly unexpected: string[] = [];
  private readonly latencies: number[] = [];
  private lastAcknowledgedAt: number | null = null;
  private longestPauseMs = 0;
  private limited = 0;
  private consumers: Consumers | null = null;
  private changes: AccountChanges | null = null;
  private isResumed = false;
  private sending = abortable();
  private callers: Promise<void>[] = [];
  private endsAt = Infinity;

  constructor(private readonly options: VerificationOptions) {
    this.service = new Service(options.urls, options.apiKey);
    this.throttle = new Throttle(options.perSecond);
    this.ledger = options.ledger;
  }

  get acknowledged(): number {
    return this.ledger.entries.filter(({ outcome }) => outcome === 'acknowledged').length;
  }

  /** The number of responses of a kind, such as `503 unavailable`. */
  count(kind: string): number {
    return this.responses.get(kind) ?? 0;
  }

  /**
   * Starts to consume the messages that are sent, if that was chosen. `stopConsumers` must follow, also if this fails.
   * What an earlier process had not consumed is pulled as well; the endpoint that it was is gone.
   * @throws UsageError when that is not possible
   */
  async startConsumers(note: (line: string) => void): Promise<void> {
    const { ledger, service, throttle } = this;
    const changes = new AccountChanges(service, ledger, note);
    this.changes = changes;
    if (ledger.consume === 'pull') {
      if (this.isResumed) await changes.undo();
      this.consumers = new PullConsumers(service, throttle, changes);
    } else if (ledger.consume === 'webhooks' && !this.isResumed) {
      this.consumers = new WebhookReceiver(changes, this.options.receive);
    }
    await this.consumers?.start();
  }

  async stopConsumers(): Promise<void> {
    if (this.consumers === null) await this.changes?.undo();
    else await this.consumers.stop();
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
   * @throws UsageError when the Idempotency-Keys may have expired, so that messages would be stored twice
   */
  async resume(patienceMs: number, now: Date): Promise<void> {
    this.isResumed = true;
    const unknown = this.ledger.all('unknown');
    if (unknown.length > 0 && now.getTime() - this.ledger.begunAt.getTime() > REPEATABLE_MS) {
      throw new UsageError(
        `The ledger is older than 23 hours, and ${unknown.length} of its messages have an unknown outcome. ` +
          'Their Idempotency-Keys may have expired, so repeating the requests could store the messages twice.',
      );
    }
    const open = unknown.values();
    this.callers = Array.from({ length: this.options.callers }, async () => {
      for (const n of open) await this.sendUntilKnown(n);
    });
    await this.stop(patienceMs);
    this.sending = abortable();
  }

  /**
   * Compares the stored messages with the ledger.
   * @param patienceMs how long to wait for deliveries that are under way
   * @throws UsageError when the messages cannot be listed
   */
  async compare(patienceMs: number): Promise<Report> {
    const deadline = performance.now() + patienceMs;
    const list = new StoredMessages(this.service, this.throttle, this.ledger);
    let stored = await list.read();
    while (stored.some(isOpen) && performance.now() < deadline) {
      await sleep(500);
      if (!(await list.anyOpen())) stored = await list.read();
    }
    if (stored.some(isOpen)) stored = await list.read();
    const { ledger, consumers } = this;
    const { entries } = ledger;
    // Those of an earlier process are not known to this one.
    const known = this.isResumed ? null : consumers;
    const areAlone = (await consumers?.areAlone()) ?? ledger.consume === undefined;
    this.latencies.sort((a, b) => a - b);
    return {
      counts: {
        acknowledged: this.acknowledged,
        refused: ledger.all('refused').length,
        unknown: ledger.all('unknown').length,
        doubtful: entries.filter(({ doubtful }) => doubtful).length,
        stored: stored.length,
      },
      responses: this.responses,
      longestPauseMs: Math.round(this.longestPauseMs),
      medianMs: Math.round(this.latencies[this.latencies.length >> 1] ?? 0),
      p99Ms: Math.round(this.latencies[Math.floor(this.latencies.length * 0.99)] ?? 0),
      guarantees: [
        ...checkGuarantees(ledger, stored, this.unexpected, known, areAlone),
        ...(consumers?.guarantees ?? []),
      ],
    };
  }

  private async call(): Promise<void> {
    for (;;) {
      const { entries } = this.ledger;
      if (entries.length >= this.options.maxMessages) return;
      // Reserves the requests that list the messages at the end.
      if (!(await this.throttle.acquire(this.endsAt, { reserve: 10 + Math.ceil(entries.length / 50) }))) return;
      const invalid = entries.length % INVALID_EVERY === INVALID_EVERY - 1;
      const n = this.ledger.begin(invalid);
      await this.sendUntilKnown(n, true);
      if (n % REPEATED_EVERY === 0 && entries[n]?.outcome === 'acknowledged') await this.sendUntilKnown(n);
    }
  }

  /** Sends a message until its outcome is known. */
  private async sendUntilKnown(n: number, acquired = false): Promise<void> {
    const repeated = this.ledger.entries[n]?.outcome === 'acknowledged';
    const { signal } = this.sending;
    for (let attempt = 0; ; attempt++) {
      if (!(acquired && attempt === 0) && !(await this.throttle.acquire(Infinity, { signal }))) return;
      const waitMs = await this.attempt(n, attempt, repeated);
      if (waitMs === null) return;
      const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt) * (0.5 + Math.random() / 2);
      // Rejects when the callers must end; `acquire` returns false then.
      await sleep(Math.max(pauseMs, waitMs), undefined, { signal }).catch(() => undefined);
    }
  }

  /** @returns null when the outcome is known, otherwise the milliseconds that the service asks to wait */
  private async attempt(n: number, attempt: number, repeated: boolean): Promise<number | null> {
    const { ledger } = this;
    const invalid = ledger.entries[n]?.invalid === true;
    const text = invalid ? `${ledger.textOf(n)} \u0000` : ledger.textOf(n);
    const begun = performance.now();
    let response: ServiceResponse;
    try {
      response = await this.service.sendMessage(text, ledger.keyOf(n), n + attempt);
    } catch (error) {
      this.throttle.release(null);
      this.note(reasonOf(error));
      if (!repeated) ledger.unknown(n, reasonOf(error));
      return 0;
    }
    this.throttle.release(response);
    const { status, body, isProblem, isOfProxy } = response;
    this.note(`${status}${isOfProxy ? ' not from Sluice' : isProblem ? ` ${String(body?.code)}` : ''}`);
    const { outcome, error } = checkResponse(response, { invalid, repeated });
    if (error !== null) this.unexpected.push(error);
    switch (outcome) {
      case 'acknowledged':
        this.noteAcknowledged(begun);
        ledger.acknowledged(n, String(response.body?.id));
        return null;
      case 'refused':
        if (!repeated) ledger.refused(n, response.status);
        return null;
      case 'limited':
        if (!repeated && ledger.entries[n]?.doubtful === false && ++this.limited % ABANDONED_EVERY === 0) {
          ledger.refused(n, response.status);
          return null;
        }
        return response.retryAfterMs ?? LONGEST_PAUSE_MS;
      case 'unknown':
        if (!repeated) ledger.unknown(n, String(response.status));
        return response.retryAfterMs ?? 0;
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
    this.responses.set(kind, (this.responses.get(kind) ?? 0) + 1);
  }
}

/** Every caller adds a listener. */
function abortable(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
