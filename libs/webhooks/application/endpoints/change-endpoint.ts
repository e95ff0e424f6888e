import type { Clock } from '#kernel/clock.js';
import { disable, enable, endpointNotFound, type Endpoint } from '../../domain/endpoint.js';
import { assertValid, type NewEndpoint } from './create-endpoint.js';
import type { Endpoints } from './endpoints.js';
import type { WebhookClient } from '../sending/webhook-client.js';

/** The fields to change; null leaves one as it is. */
export type EndpointChanges = { readonly [Field in keyof NewEndpoint]: NewEndpoint[Field] | null };

export class ChangeEndpoint {
  constructor(
    private readonly endpoints: Endpoints,
    private readonly client: WebhookClient,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws ValidationError
   * @throws DomainError `endpoint_not_found`
   */
  async execute(accountId: string, id: string, changes: EndpointChanges): Promise<Endpoint> {
    const { url, description, enabled, rateLimitPerSecond } = changes;
    assertValid(this.client, url, description);
    const endpoint = await this.endpoints.update(accountId, id, (before) => {
      const changed = {
        ...before,
        url: url ?? before.url,
        failingSince: url === null || url === before.url ? before.failingSince : null,
        description: description ?? before.description,
        rateLimitPerSecond: rateLimitPerSecond ?? before.rateLimitPerSecond,
      };
      if (enabled === null) return changed;
      return enabled ? enable(changed) : disable(changed, 'by_account', this.clock.now());
    });
    if (endpoint === null) throw endpointNotFound();
    return endpoint;
  }
}
