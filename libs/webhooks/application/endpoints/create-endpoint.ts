import type { Clock } from '#kernel/clock.js';
import { ValidationError, type FieldError } from '#kernel/domain-error.js';
import type { Ids } from '#kernel/ids.js';
import { descriptionError, disable, urlError, type Endpoint } from '../../domain/endpoint.js';
import type { Endpoints } from './endpoints.js';
import type { SecretBox } from './secret-box.js';
import { formatSecret, newSecret } from '../sending/signatures.js';
import type { WebhookClient } from '../sending/webhook-client.js';

export interface NewEndpoint {
  readonly url: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly rateLimitPerSecond: number;
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
    assertValid(this.client, input.url, input.description);
    const at = this.clock.now();
    const { enabled, ...rest } = input;
    const created: Endpoint = {
      ...rest,
      ...{ id: this.ids.next('ep', at), accountId, enabled: true, createdAt: at },
      ...{ disabledAt: null, disabledReason: null, failingSince: null },
    };
    const endpoint = enabled ? created : disable(created, 'by_account', at);
    const secret = newSecret();
    await this.endpoints.add(endpoint, this.box.seal(secret, endpoint.id));
    return { endpoint, secret: formatSecret(secret) };
  }
}

/** @throws ValidationError */
export function assertValid(client: WebhookClient, url: string | null, description: string | null): void {
  const errors: FieldError[] = [];
  const add = (pointer: string, detail: string | null) => {
    if (detail !== null) errors.push({ pointer, detail });
  };
  if (url !== null) {
    const forbidden = 'url must not contain a private address: endpoints must be reachable from the Internet.';
    add('/url', urlError(url) ?? (client.isForbidden(url) ? forbidden : null));
  }
  if (description !== null) add('/description', descriptionError(description));
  if (errors.length > 0) throw new ValidationError(errors);
}
