import { pathOf, type Call, type CallOptions, type Transport } from './transport.js';
import type { Acknowledgement, Lease, LeasedMessage, LeasedMessages, LeaseInput } from './types.js';

/** How a message is rejected. */
export interface Rejection {
  /** When the message is available again. By default after a wait that grows with its attempts. */
  readonly delaySeconds?: number | undefined;
  /** Is shown with the attempt, and as the `failureReason` of the message: its first 1,000 characters. */
  readonly reason?: string | undefined;
}

interface LeaseCallOptions extends CallOptions {
  /** @internal Whether only the signal ends its tries. */
  readonly unbounded?: boolean;
}

/** Pulls messages, if the account's `delivery` is `pull`. `sluice.consume()` does all of this by itself. */
export class Leases {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Leases messages: nobody else gets them until the leases end.
   * @param input.max how many at most: 10 by default, up to 100
   * @param input.seconds how long nobody else gets them: 30 by default, up to 3,600
   * @param input.wait how many seconds to wait while there are none: 0 by default, up to 20
   */
  async lease(input: LeaseInput = {}, options?: CallOptions): Promise<LeasedMessage[]> {
    return (await this.request(input, options)).data;
  }

  /** @internal As `lease`. @returns also why there may be no messages */
  request(input: LeaseInput, options?: CallOptions): Promise<LeasedMessages> {
    const patienceMs = (input.wait ?? 0) * 1_000;
    const call = { ...options, body: input, repeatable: true, patienceMs, field: 'data' };
    return this.#transport.json('POST', '/messages/lease', call);
  }

  /** The message is delivered. Fails with the code `lease_lost` when the lease has expired. */
  ack(id: string, leaseToken: string, options?: LeaseCallOptions): Promise<void> {
    return this.#end(id, 'ack', { leaseToken }, { ...options, field: null });
  }

  /** Up to 1,000 messages are delivered, each by itself: the result says of which the lease was lost. */
  ackBatch(leases: readonly Lease[], options?: LeaseCallOptions): Promise<Acknowledgement[]> {
    const call = { ...options, body: { leases }, repeatable: true };
    return this.#transport.items('POST', '/messages/ack', call);
  }

  /** The attempt has failed: the message is available again, or `failed` if it was the last one. */
  nack(id: string, leaseToken: string, rejection: Rejection = {}, options?: LeaseCallOptions): Promise<void> {
    const body = { leaseToken, ...rejection, reason: storable(rejection.reason) };
    return this.#end(id, 'nack', body, { ...options, field: null });
  }

  /** The lease expires this many seconds from now. */
  extend(
    id: string,
    leaseToken: string,
    seconds: number,
    options?: LeaseCallOptions,
  ): Promise<{ leaseExpiresAt: string }> {
    return this.#end(id, 'extend', { leaseToken, seconds }, options);
  }

  #end<T>(id: string, verb: string, body: object, options: LeaseCallOptions & Pick<Call, 'field'> = {}): Promise<T> {
    return this.#transport.json('POST', pathOf`/messages/${id}/${verb}`, { ...options, body, repeatable: true });
  }
}

/** The server refuses other reasons, and often they are texts of errors: not empty, without NUL and halves of characters. */
function storable(reason: string | undefined): string | undefined {
  const text = reason?.slice(0, 1_000).replace(/[\0\p{Surrogate}]/gu, '');
  return text === '' ? undefined : text;
}
