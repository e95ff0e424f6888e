import type { List } from './list.js';
import { pathOf, type CallOptions, type ListOptions, type OnceOptions, type Transport } from './transport.js';
import type {
  Endpoint,
  EndpointChanges,
  EndpointDelivery,
  EndpointTest,
  NewEndpoint,
  NewEndpointInput,
  Time,
} from './types.js';

export interface DeliveryFilter extends ListOptions {
  readonly status?: EndpointDelivery['status'] | undefined;
}

/** The URLs to which messages are posted if the account's `delivery` is `webhooks`. */
export class Endpoints {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(options: ListOptions = {}): List<Endpoint> {
    return this.#transport.list('/endpoints', options);
  }

  /** Only a call with the same idempotency key gets `secret` of the result again. */
  create(input: NewEndpointInput, options?: OnceOptions): Promise<NewEndpoint> {
    return this.#transport.json('POST', '/endpoints', { ...options, body: input });
  }

  get(id: string, options?: CallOptions): Promise<Endpoint> {
    return this.#transport.json('GET', pathOf`/endpoints/${id}`, options);
  }

  update(id: string, changes: EndpointChanges, options?: CallOptions): Promise<Endpoint> {
    return this.#transport.json('PATCH', pathOf`/endpoints/${id}`, { ...options, body: changes });
  }

  /** Messages waiting for it are not posted. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.#transport.json('DELETE', pathOf`/endpoints/${id}`, options);
  }

  /**
   * Replaces the secret by a new one, which only a call with the same idempotency key gets again.
   * @param input.graceSeconds for how long the old secret signs as well: 0 by default
   */
  rotateSecret(
    id: string,
    input: { readonly graceSeconds?: number | undefined } = {},
    options?: OnceOptions,
  ): Promise<{ secret: string }> {
    return this.#transport.json('POST', pathOf`/endpoints/${id}/rotate-secret`, { ...options, body: input });
  }

  /** Posts a signed test to the endpoint, and returns what it answered. */
  test(id: string, options?: CallOptions): Promise<EndpointTest> {
    return this.#transport.json('POST', pathOf`/endpoints/${id}/test`, options);
  }

  /** What the endpoint has got, still gets, or has missed: the newest message first. */
  deliveries(id: string, options: DeliveryFilter = {}): List<EndpointDelivery> {
    return this.#transport.list(pathOf`/endpoints/${id}/deliveries`, options);
  }

  /** Posts the messages of a period that the endpoint has not received. The period ends now by default. */
  replay(
    id: string,
    period: { readonly since: Time; readonly until?: Time | undefined },
    options?: OnceOptions,
  ): Promise<{ count: number }> {
    return this.#transport.json('POST', pathOf`/endpoints/${id}/replay`, { ...options, body: period });
  }
}
