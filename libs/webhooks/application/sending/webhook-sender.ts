import { LRUCache } from 'lru-cache';
import { ALWAYS_ACTIVE } from '#kernel/activity.js';
import { withTimeout } from '#kernel/timeout.js';
import type { DueEndpoint, EndpointDeliveries, LeasedDelivery } from '../endpoint-deliveries.js';
import type { Endpoints, Target } from '../endpoints/endpoints.js';
import type { DeliverWebhook, SendingObserver } from './deliver-webhook.js';
import { EndpointPlaces } from './endpoint-places.js';

interface SendingTerms {
  /** Requests that run at the same time. With the reserve of `EndpointPlaces`, twice as many. */
  readonly concurrency: number;
  readonly timeoutMs: number;
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

/** Makes due deliveries: looks for them, leases them, and makes each while there is a place for it. */
export class WebhookSender {
  private readonly places: EndpointPlaces;
  private readonly targets = new LRUCache<string, Target>({ max: MAX_TARGETS });
  private readonly sending = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  /** When due deliveries are looked for next, in milliseconds of `performance.now()`. */
  private nextTurn = 0;
  private endPause = (): void => undefined;
  private readonly stop = { signal: this.stopping.signal, graceIsOver: false };
  private closed: Promise<void> | null = null;
  private loop: Promise<void> = Promise.resolve();

  constructor(
    private readonly deliveries: Omit<EndpointDeliveries, 'settle'>,
    private readonly endpoints: Pick<Endpoints, 'targets' | 'takeRate'>,
    private readonly webhooks: DeliverWebhook,
    private readonly terms: SendingTerms,
    private readonly observer: Pick<SendingObserver, 'failed'>,
    private readonly clockWatch: { readonly isRight: boolean },
    private readonly activity = ALWAYS_ACTIVE,
  ) {
    this.places = new EndpointPlaces(terms.concurrency);
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
      this.stop.graceIsOver = true;
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
    const found = await this.deliveries.due(this.places.maxOfOne);
    if (found.length === 0) return Math.min((await this.deliveries.nextIn()) ?? IDLE_MS, IDLE_MS);
    const due = found.filter((one) => this.webhooks.canSign(one));
    if (due.length === 0) return IDLE_MS;
    this.activity.note();
    // With many endpoints, a search that starts nothing must not be most of what a worker does.
    const costMs = SEARCH_COSTS * (performance.now() - searchedAt);
    const places = this.places.divide(due);
    if (places.size === 0) return Math.max(BLOCKED_MS, costMs);
    const emptyInMs = await this.applyRateLimits(due, places);
    const blockedMs = Math.max(Math.min(BLOCKED_MS, emptyInMs), costMs);
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

  /** @returns when an endpoint with a limit can take the most again, in milliseconds */
  private async applyRateLimits(due: readonly DueEndpoint[], places: Map<string, number>): Promise<number> {
    const limited = due.filter(
      ({ endpointId, rateLimitPerSecond }) => rateLimitPerSecond > 0 && places.has(endpointId),
    );
    if (limited.length === 0) return Infinity;
    const wanted = limited.map(({ endpointId }) => [endpointId, places.get(endpointId) ?? 0] as const);
    const granted = await this.endpoints.takeRate(new Map(wanted));
    for (const [id] of wanted) {
      const count = granted.get(id)?.count ?? 0;
      if (count === 0) places.delete(id);
      else places.set(id, count);
    }
    return Math.min(...[...granted.values()].map(({ emptyInMs }) => emptyInMs));
  }

  private async deliver(delivery: LeasedDelivery, targets: Promise<ReadonlyMap<string, Target>>): Promise<void> {
    const release = this.places.take(delivery);
    try {
      const target = (await targets).get(delivery.endpointId);
      const { outcome, retryMs } = await this.webhooks.deliver(delivery, target, this.stop, release);
      if (outcome === 'retried') this.lookIn(retryMs);
    } catch (error) {
      // The lease expires, and the delivery starts again.
      this.observer.failed(error);
      release(false);
    }
  }
}
