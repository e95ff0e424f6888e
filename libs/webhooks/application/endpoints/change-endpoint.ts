import type { Clock } from '#kernel/clock.js';
import { disable, enable, endpointNotFound, moveTo, type Endpoint } from '../../domain/endpoint.js';
import type { NewEndpoint } from './create-endpoint.js';
import type { Endpoints } from './endpoints.js';
import type { WebhookClient } from '../sending/webhook-client.js';
import { sealHeaders } from './sealed-headers.js';
import type { SecretBox } from './secret-box.js';
import { assertValid } from './valid-endpoint.js';

/** The fields to change; null leaves one as it is. */
export type EndpointChanges = { readonly [Field in keyof NewEndpoint]: NewEndpoint[Field] | null };

export class ChangeEndpoint {
  constructor(
    private readonly endpoints: Endpoints,
    private readonly box: SecretBox,
    private readonly client: WebhookClient,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws ValidationError
   * @throws DomainError `endpoint_not_found`
   */
  async execute(accountId: string, id: string, changes: EndpointChanges): Promise<Endpoint> {
    const { url, description, enabled, rateLimitPerSecond, types, headers } = changes;
    assertValid(this.client, changes);
    const endpoint = await this.endpoints.update(accountId, id, (before) => {
      const changed = {
        ...moveTo(before, url ?? before.url),
        description: description ?? before.description,
        rateLimitPerSecond: rateLimitPerSecond ?? before.rateLimitPerSecond,
        types: types === null ? before.types : [...new Set(types)],
        ...(headers !== null && {
          ...{ headerNames: Object.keys(headers), headers: sealHeaders(this.box, headers, id) },
        }),
      };
      if (enabled === null) return changed;
      return enabled ? enable(changed) : disable(changed, 'by_account', this.clock.now());
    });
    if (endpoint === null) throw endpointNotFound();
    return endpoint;
  }
}
