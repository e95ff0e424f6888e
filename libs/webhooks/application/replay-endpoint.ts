import type { Clock } from '#kernel/clock.js';
import { DomainError, ValidationError } from '#kernel/domain-error.js';
import type { StorageCap } from '#messages/index.js';
import type { EndpointDeliveries } from './endpoint-deliveries.js';
import { endpointNotFound } from '../domain/endpoint.js';
import type { Endpoints } from './endpoints/endpoints.js';

/** Messages that one call replays at most. */
export const MAX_REPLAYED = 10_000;
/** Messages that are replayed to an endpoint without a limit of its own, in a second. */
export const REPLAYED_PER_SECOND = 100;

/** Sends an endpoint the messages of a time span that it has not got. */
export class ReplayEndpoint {
  constructor(
    private readonly endpoints: Endpoints,
    private readonly deliveries: EndpointDeliveries,
    private readonly clock: Clock,
    private readonly storage: StorageCap,
  ) {}

  /**
   * @param since when the messages were created, inclusive
   * @param until when they were created, exclusive; null for now
   * @param gone aborts when the client no longer waits
   * @returns how many, at most about 10,000
   * @throws ValidationError when `until` is not after `since`
   * @throws DomainError `endpoint_not_found`, `endpoint_disabled`, `storage_full` or `unavailable`
   */
  async execute(accountId: string, id: string, since: Date, until: Date | null, gone: AbortSignal): Promise<number> {
    const period = { since, until: until ?? this.clock.now() };
    if (period.until <= since)
      throw new ValidationError([{ pointer: '/since', detail: 'since must be before until, which defaults to now.' }]);
    const endpoint = await this.endpoints.find(accountId, id);
    if (endpoint === null) throw endpointNotFound();
    if (!endpoint.enabled) throw new DomainError('endpoint_disabled', 'The endpoint is disabled. Enable it first.');
    this.storage.requireRoom(accountId);
    const perSecond = endpoint.rateLimitPerSecond === 0 ? REPLAYED_PER_SECOND : endpoint.rateLimitPerSecond;
    const terms = { ...period, max: MAX_REPLAYED, perSecond };
    return this.deliveries.replay(accountId, id, terms, gone, (deliveries) => {
      this.storage.countDeliveries(accountId, deliveries, this.clock.now());
    });
  }
}
