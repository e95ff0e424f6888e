import type { Clock } from '#kernel/clock.js';
import type { Ids } from '#kernel/ids.js';
import type { EndpointHeaders } from '../../domain/endpoint-headers.js';
import { disable, type Endpoint } from '../../domain/endpoint.js';
import type { Endpoints } from './endpoints.js';
import type { SecretBox } from './secret-box.js';
import { formatSecret, newSecret } from '../sending/signatures.js';
import { sealHeaders } from './sealed-headers.js';
import { assertValid } from './valid-endpoint.js';
import type { WebhookClient } from '../sending/webhook-client.js';

export interface NewEndpoint {
  readonly url: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly rateLimitPerSecond: number;
  readonly types: readonly string[];
  readonly headers: EndpointHeaders;
}

/** An endpoint with its secret, which is shown only once. */
export interface IssuedEndpoint {
  readonly endpoint: Endpoint;
  readonly secret: string;
}

export class CreateEndpoint {
  constructor(
    private readonly endpoints: Endpoints,
    private readonly box: SecretBox,
    private readonly client: WebhookClient,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws ValidationError
   * @throws DomainError `too_many_endpoints`
   */
  async execute(accountId: string, input: NewEndpoint): Promise<IssuedEndpoint> {
    assertValid(this.client, input);
    const at = this.clock.now();
    const { enabled, types, headers, ...rest } = input;
    const created: Endpoint = {
      ...rest,
      ...{ types: [...new Set(types)], headerNames: Object.keys(headers) },
      ...{ id: this.ids.next('ep', at), accountId, enabled: true, createdAt: at },
      ...{ disabledAt: null, disabledReason: null, failingSince: null, failingUntil: null, revision: 0 },
    };
    const endpoint = enabled ? created : disable(created, 'by_account', at);
    const secret = newSecret();
    const sealed = {
      secrets: [{ sealed: this.box.seal(secret, endpoint.id), expiresAt: null }],
      headers: sealHeaders(this.box, headers, endpoint.id),
    };
    await this.endpoints.add({ ...endpoint, ...sealed });
    return { endpoint, secret: formatSecret(secret) };
  }
}
