import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { ALWAYS_ACTIVE } from '#kernel/activity.js';
import type { Clock } from '#kernel/clock.js';
import { DomainError } from '#kernel/domain-error.js';
import { withTimeout } from '#kernel/timeout.js';
import type { StorageCap } from '#messages/index.js';
import { storedBytes } from './stored-bytes.js';
import type { DeliveryResult, DueEndpoint, EndpointDeliveries, LeasedDelivery } from '../endpoint-deliveries.js';
import { disablesBecause, isSuccess, nextAttemptIn, type Received } from '../../domain/attempt-result.js';
import { matchesType, toReason } from '#messages/index.js';
import { TYPES_CHANGED } from '../../domain/endpoint-outcome.js';
import { AUTOMATIC_REASONS, disable, type AutomaticReason, type Endpoint } from '../../domain/endpoint.js';
import type { Endpoints, Target } from '../endpoints/endpoints.js';
import { Places } from './places.js';
import type { SecretBox } from '../endpoints/secret-box.js';
import type { WebhookClient } from './webhook-client.js';
import { webhookRequest } from './webhook-request.js';

interface SendingTerms {
  /** Requests that run at the same time. With the reserve of `Places`, twice as many. */
  readonly concurrency: number;
  readonly timeoutMs: number;
  /** The waits before the second and each further attempt. */
  readonly retrySeconds: readonly number[];
  /** An endpoint that has only failed for so long is disabled. */
  readonly disableAfterMs: number;
}

export type AttemptEnd = DeliveryResult['outcome'];

export interface SendingObserver {
  attempted(outcome: AttemptEnd): void;
  /** A request ended after this time, with an answer or without. */
  requested(ms: number): void;
  disabled(reason: AutomaticReason, endpoint: Endpoint): void;
  /** Something failed that is repeated later. */
  failed(error: unknown): void;
}

/** How long a lease outlives the timeout of its request, to store how it ended. */
const SETTLING_MS = 15_000;
/** Milliseconds to the next search after one that started deliveries, and after one whose due deliveries must wait. */
const BUSY_MS = 5;
const BLOCKED_MS = 50;
/** The pause after a search that started nothing is at least this many times as long as the search. */
const SEARCH_COSTS = 10;
/** The longest pause while nothing is due: an announcement of new deliveries may be missed. */
const IDLE_MS = 1_000;
/** The same while the installation is quiet. */
const QUIET_MS = 30_000;
/** Targets in memory; one is used only for attempts that started with its version of the endpoint. */
const MAX_TARGETS = 10_000;
/** Deliveries whose result is not stored yet, including running ones: at most this many times the concurrency. */
const MAX_UNSETTLED = 3;
/** The longest pause between two tries to store a result. */
const MAX_PAUSE_MS = 1_000;

/** Why a delivery fails without a request. */
const DELETED = 'endpoint_deleted';
const DISABLED = 'endpoint_disabled';

/** The type of a request for a message without one. */
const UNTYPED = 'message';

/** Makes due deliveries: leases them, posts each to its endpoint, and stores how that ended. */
export class WebhookSender {
  private readonly places: Places;
  private readonly targets = new LRUCache<string, Target>({ max: MAX_TARGETS });
  private readonly sending = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  /** When due deliveries are looked for next, in milliseconds of `performance.now()`. */
  private nextTurn = 0;
  private endPause = (): void => undefined;
  /** Set when the worker stops without waiting longer for requests that run. */
  private graceIsOver = false;
  private closed: Promise<void> | null = null;
  private loop: Promise<void> = Promise.resolve();

  constructor(
    private readonly deliveries: EndpointDeliveries,
    private readonly endpoints: Endpoints,
    private readonly box: SecretBox,
    private readonly client: WebhookClient,
    private readonly terms: SendingTerms,
    private readonly clock: Clock,
    private readonly observer: SendingObserver,
    private readonly clockWatch: { readonly isRight: boolean },
    private readonly storage: Pick<StorageCap, 'hasRoom' | 'countAttempt'>,
    private readonly activity = ALWAYS_ACTIVE,
    private readonly random: () => number = Math.random,
  ) {
    this.places = new Places(terms.concurrency);
  }

  start(): void {
    this.deliveries.listen(() => {
      this.lookIn(0);
    });
    this.activity.onWake(() => {
      this.lookIn(0);
    });
    this.loop = this.run();
  }

  /**
   * Starts no more requests, and waits for the running ones. Another worker repeats requests that do not end in time.
   */
  close(graceMs: number): Promise<void> {
    return (this.closed ??= this.end(graceMs));
  }

  private async end(graceMs: number): Promise<void> {
    this.stopping.abort();
    this.endPause();
    await this.loop;
    await withTimeout(Promise.all(this.sending), graceMs, () => {
      this.graceIsOver = true;
    });
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const startedAt = performance.now();
      this.nextTurn = Infinity;
      const pauseMs = await this.turn().catch((error: unknown) => {
        this.observer.failed(error);
        return BLOCKED_MS;
      });
      this.lookIn(pauseMs);
      // Searches never take more than half of the time.
      await this.pause(performance.now() + Math.max(BUSY_MS, performance.now() - startedAt));
    }
  }

  private lookIn(ms: number): void {
    const at = performance.now() + ms;
    if (at >= this.nextTurn) return;
    this.nextTurn = at;
    this.endPause();
  }

  /** Ends at the time of the next turn, which may change meanwhile, but not before the earliest. */
  private async pause(earliest: number): Promise<void> {
    for (;;) {
      const ms = Math.max(this.nextTurn, earliest) - performance.now();
      if (ms <= 0 || this.stopping.signal.aborted) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.endPause = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** @returns milliseconds until the next one */
  private async turn(): Promise<number> {
    const isBehind = this.sending.size >= MAX_UNSETTLED * this.terms.concurrency;
    // Receivers refuse signatures of another time, and their refusals would count as failures.
    if (this.places.isFull || isBehind || !this.clockWatch.isRight) return BLOCKED_MS;
    if (this.activity.isQuiet) {
      const nextMs = Math.min((await this.deliveries.pendingIn()) ?? Infinity, QUIET_MS);
      if (nextMs > 0) return nextMs;
    }
    const searchedAt = performance.now();
    const due = await this.deliveries.due(this.places.maxOfOne);
    if (due.length === 0) return Math.min((await this.deliveries.nextIn()) ?? IDLE_MS, IDLE_MS);
    this.activity.note();
    // With many endpoints, a search that starts nothing must not be most of what a worker does.
    const blockedMs = Math.max(BLOCKED_MS, SEARCH_COSTS * (performance.now() - searchedAt));
    const places = this.places.divide(due);
    if (places.size === 0) return blockedMs;
    await this.applyRateLimits(due, places);
    if (places.size === 0 || this.stopping.signal.aborted) return blockedMs;
    const leased = await this.deliveries.lease(places, this.terms.timeoutMs + SETTLING_MS);
    const targets = this.loadTargets(leased);
    for (const delivery of leased) {
      const sending: Promise<void> = this.deliver(delivery, targets).finally(() => this.sending.delete(sending));
      this.sending.add(sending);
    }
    return leased.length > 0 ? BUSY_MS : blockedMs;
  }

  /** The targets that exist: from memory, if they are as the attempts found them when they started. */
  private async loadTargets(leased: readonly LeasedDelivery[]): Promise<ReadonlyMap<string, Target>> {
    const found = new Map<string, Target>();
    const unknown = new Set<string>();
    for (const { endpointId, endpointVersion } of leased) {
      const target = this.targets.get(endpointId);
      if (target !== undefined && target.version === endpointVersion) found.set(endpointId, target);
      else unknown.add(endpointId);
    }
    for (const target of unknown.size === 0 ? [] : await this.endpoints.targets([...unknown])) {
      found.set(target.endpoint.id, target);
      this.targets.set(target.endpoint.id, target);
    }
    return found;
  }

  private async applyRateLimits(due: readonly DueEndpoint[], places: Map<string, number>): Promise<void> {
    const limited = due.filter(
      ({ endpointId, rateLimitPerSecond }) => rateLimitPerSecond > 0 && places.has(endpointId),
    );
    if (limited.length === 0) return;
    const wanted = limited.map(({ endpointId }) => [endpointId, places.get(endpointId) ?? 0] as const);
    const granted = await this.endpoints.takeRate(new Map(wanted));
    for (const [id] of wanted) {
      const count = granted.get(id) ?? 0;
      if (count === 0) places.delete(id);
      else places.set(id, count);
    }
  }

  private async deliver(delivery: LeasedDelivery, targets: Promise<ReadonlyMap<string, Target>>): Promise<void> {
    const release = this.places.take(delivery);
    try {
      const target = (await targets).get(delivery.endpointId);
      const attempted = await this.attempt(delivery, target);
      // Before the result is stored, so that the next request need not wait. A delivery that ended without a request counts
      // as a success: it says nothing about the receiver.
      release(attempted.outcome === 'delivered' || attempted.revision === null);
      // Before, too: what failed because its endpoint is gone does not count against the message.
      const current =
        target === undefined || attempted.outcome === 'delivered' ? null : await this.disableIfDue(target, attempted);
      // That it is gone was said of what it was before.
      const isOld = current?.enabled === true && current.revision !== attempted.revision;
      const result = isOld ? this.failed(attempted, { status: null, retryAfter: null }) : attempted;
      await this.settle(result);
      this.storage.countAttempt(delivery.accountId, storedBytes(result), this.clock.now());
      if (result.outcome === 'retried') this.lookIn(result.retryMs);
      this.observer.attempted(result.outcome);
    } catch (error) {
      // The lease expires, and the delivery starts again.
      this.observer.failed(error);
      release(false);
    }
  }

  private async attempt(delivery: LeasedDelivery, target: Target | undefined): Promise<DeliveryResult> {
    const nothing = { delivery, retryMs: 0, responseStatus: null, responseBody: null, revision: null };
    if (target === undefined) return { ...nothing, outcome: 'failed', error: DELETED };
    if (!target.endpoint.enabled) return { ...nothing, outcome: 'failed', error: DISABLED };
    if (!matchesType(target.endpoint.types, delivery.content.type)) {
      return { ...nothing, outcome: 'failed', error: TYPES_CHANGED };
    }
    const { error, status, body, retryAfter } = await this.post(delivery, target);
    // An account that stores all it may can make no more of responses.
    const responseBody = this.storage.hasRoom(delivery.accountId) ? body : null;
    const answered = { ...nothing, responseStatus: status, responseBody, revision: target.endpoint.revision };
    if (error === null) return { ...answered, outcome: 'delivered', error };
    // Our shutdown may have ended the request, which is not the receiver's fault: the lease expires, and the delivery
    // starts again.
    if (this.graceIsOver) throw new Error('The worker has stopped during the request.');
    return this.failed({ ...answered, outcome: 'failed', error }, { status, retryAfter });
  }

  /** A failed attempt, which is repeated if there is another one. */
  private failed(result: DeliveryResult, received: Received): DeliveryResult {
    const failures = result.delivery.failures + 1;
    const retryMs = nextAttemptIn(received, failures, this.terms.retrySeconds, this.clock.now(), this.random());
    return retryMs === null ? result : { ...result, outcome: 'retried', retryMs };
  }

  private async post({ messageId, content, createdAt, traceparent }: LeasedDelivery, target: Target) {
    const webhook = { type: content.type ?? UNTYPED, id: messageId, content, createdAt, traceparent };
    const request = webhookRequest(this.box, target, webhook, this.clock.now());
    const startedAt = performance.now();
    try {
      const answer = await this.client.post(request);
      return { ...answer, error: isSuccess(answer.status) ? null : `The receiver returned ${answer.status}.` };
    } catch (error) {
      return { status: null, body: null, retryAfter: null, error: toReason((error as Error).message) };
    } finally {
      this.observer.requested(performance.now() - startedAt);
    }
  }

  /**
   * Decides by the endpoint as it is now: its account may have changed it since the request was sent.
   * @returns the endpoint as it is now; null when the request was no reason to look
   */
  private async disableIfDue(
    { endpoint: asked }: Target,
    { responseStatus, revision }: DeliveryResult,
  ): Promise<Endpoint | null> {
    if (revision === null) return null;
    const now = this.clock.now();
    const request = { status: responseStatus, revision, now, disableAfterMs: this.terms.disableAfterMs };
    if (disablesBecause(asked, request) === null) return null;
    try {
      const endpoint = await this.endpoints.update(asked.accountId, asked.id, (current) => {
        const reason = current.enabled ? disablesBecause(current, request) : null;
        return reason === null ? current : disable(current, reason, now);
      });
      const reason = AUTOMATIC_REASONS.find((one) => one === endpoint?.disabledReason);
      // By identity: another worker may have disabled it at the same time.
      if (reason !== undefined && endpoint?.disabledAt === now) this.observer.disabled(reason, endpoint);
      return endpoint;
    } catch (error) {
      this.observer.failed(error);
      return null;
    }
  }

  /** Repeated while the store is away: the request was made, and would be made again without its result. */
  private async settle(result: DeliveryResult): Promise<void> {
    for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        await this.deliveries.settle(result);
        return;
      } catch (error) {
        if (!(error instanceof DomainError) || this.stopping.signal.aborted) throw error;
        await sleep(pauseMs);
      }
    }
  }
}
