import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#kernel/clock.js';
import { DomainError } from '#kernel/domain-error.js';
import { matchesType, toReason, type StorageCap } from '#messages/index.js';
import {
  disablesBecause,
  forgottenAfter,
  isSuccess,
  nextAttemptIn,
  type Received,
} from '../../domain/attempt-result.js';
import { AUTOMATIC_REASONS, disable, type AutomaticReason, type Endpoint } from '../../domain/endpoint.js';
import { TYPES_CHANGED } from '../../domain/message-outcome.js';
import type { DeliveryResult, DueEndpoint, EndpointDeliveries, LeasedDelivery } from '../endpoint-deliveries.js';
import type { Endpoints, Target } from '../endpoints/endpoints.js';
import type { SecretBox } from '../endpoints/secret-box.js';
import { attemptBytes } from './attempt-bytes.js';
import type { WebhookClient } from './webhook-client.js';
import { webhookRequest } from './webhook-request.js';

interface DeliveryTerms {
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
  /** Deliveries are left to other workers, because this process does not have the key of their endpoint's secret. */
  lacksKey(keyId: string): void;
}

/** How far the worker has come with its stop. */
interface Stop {
  /** Aborted when no more requests are started. */
  readonly signal: AbortSignal;
  /** Set when the worker no longer waits for requests that run. */
  readonly graceIsOver: boolean;
}

/** Why a delivery fails without a request. */
const DELETED = 'endpoint_deleted';
const DISABLED = 'endpoint_disabled';

/** The type of a request for a message without one. */
const UNTYPED = 'message';

/** The longest pause between two tries to store a result. */
const MAX_PAUSE_MS = 1_000;

/** Makes a delivery: posts the message to the endpoint, and stores how that ended. */
export class DeliverWebhook {
  constructor(
    private readonly deliveries: Pick<EndpointDeliveries, 'settle'>,
    private readonly endpoints: Pick<Endpoints, 'update'>,
    private readonly box: SecretBox,
    private readonly client: WebhookClient,
    private readonly terms: DeliveryTerms,
    private readonly clock: Clock,
    private readonly observer: SendingObserver,
    private readonly storage: Pick<StorageCap, 'hasRoom' | 'countAttempt'>,
    private readonly random: () => number = Math.random,
  ) {}

  /** Whether this process can sign requests to an endpoint. One that was deleted gets none. */
  canSign({ keyId }: DueEndpoint): boolean {
    if (keyId === null || this.box.has(keyId)) return true;
    this.observer.lacksKey(keyId);
    return false;
  }

  /**
   * @param target the endpoint; undefined when it was deleted
   * @param release called when the next request to the endpoint need not wait, with whether it has received this one
   * @returns the result that was stored
   */
  async deliver(
    delivery: LeasedDelivery,
    target: Target | undefined,
    stop: Stop,
    release: (succeeded: boolean) => void,
  ): Promise<DeliveryResult> {
    const attempted = await this.attempt(delivery, target, stop);
    // Before the result is stored, so that the next request need not wait. A delivery that ended without a request counts as
    // a success: it says nothing about the receiver.
    release(attempted.outcome === 'delivered' || attempted.revision === null);
    // Before, too: what failed because its endpoint is gone does not count against the message.
    const current =
      target === undefined || attempted.outcome === 'delivered' ? null : await this.disableIfDue(target, attempted);
    // That it is gone was said of what it was before.
    const isOld = current?.enabled === true && current.revision !== attempted.revision;
    const result = isOld ? this.failed(attempted, { status: null, retryAfterMs: null }) : attempted;
    await this.settle(result, stop.signal);
    this.storage.countAttempt(delivery.accountId, attemptBytes(result), this.clock.now());
    this.observer.attempted(result.outcome);
    return result;
  }

  private async attempt(delivery: LeasedDelivery, target: Target | undefined, stop: Stop): Promise<DeliveryResult> {
    const nothing = { delivery, retryMs: 0, forgottenMs: 0, responseStatus: null, responseBody: null, revision: null };
    if (target === undefined) return { ...nothing, outcome: 'failed', error: DELETED };
    if (!target.endpoint.enabled) return { ...nothing, outcome: 'failed', error: DISABLED };
    if (!matchesType(target.endpoint.types, delivery.content.type)) {
      return { ...nothing, outcome: 'failed', error: TYPES_CHANGED };
    }
    const { error, status, body, retryAfterMs } = await this.post(delivery, target);
    // An account that stores all it may can make no more of responses.
    const responseBody = this.storage.hasRoom(delivery.accountId) ? body : null;
    const answered = { ...nothing, responseStatus: status, responseBody, revision: target.endpoint.revision };
    if (error === null) return { ...answered, outcome: 'delivered', error };
    // Our shutdown may have ended the request, which is not the receiver's fault: the lease expires, and the delivery
    // starts again.
    if (stop.graceIsOver) throw new Error('The worker has stopped during the request.');
    return this.failed({ ...answered, outcome: 'failed', error }, { status, retryAfterMs });
  }

  /** A failed attempt, which is repeated if there is another one. */
  private failed(result: DeliveryResult, received: Received): DeliveryResult {
    const failures = result.delivery.failures + 1;
    const retryMs = nextAttemptIn(received, failures, this.terms.retrySeconds, this.random());
    const forgottenMs = forgottenAfter(retryMs ?? 0, this.terms.disableAfterMs);
    return retryMs === null ? { ...result, forgottenMs } : { ...result, forgottenMs, outcome: 'retried', retryMs };
  }

  private async post({ messageId, content, createdAt, traceparent }: LeasedDelivery, target: Target) {
    const webhook = { type: content.type ?? UNTYPED, id: messageId, content, createdAt, traceparent };
    const request = webhookRequest(this.box, target, webhook, this.clock.now());
    const startedAt = performance.now();
    try {
      const answer = await this.client.post(request);
      return { ...answer, error: isSuccess(answer.status) ? null : `The receiver returned ${answer.status}.` };
    } catch (error) {
      const reason = toReason((error as Error).message, 'The request failed.');
      return { status: null, body: null, retryAfterMs: null, error: reason };
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
  private async settle(result: DeliveryResult, stopping: AbortSignal): Promise<void> {
    for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        await this.deliveries.settle(result);
        return;
      } catch (error) {
        if (!(error instanceof DomainError) || stopping.aborted) throw error;
        await sleep(pauseMs);
      }
    }
  }
}
