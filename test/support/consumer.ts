import { expectStatus, type Account, type TestApi } from './api.js';
import type { HttpResponse } from './http.js';

export interface LeasedMessage {
  readonly id: string;
  readonly message: string;
  readonly createdAt: string;
  readonly attempt: number;
  readonly leaseToken: string;
  readonly leaseExpiresAt: string;
}

/** A client that pulls the messages of an account. */
export class Consumer {
  constructor(
    private readonly api: TestApi,
    readonly account: Pick<Account, 'key'>,
  ) {}

  request(input: object = {}): Promise<HttpResponse> {
    return this.api.ask(this.account, 'POST /messages/lease', input);
  }

  async lease(input: object = {}): Promise<LeasedMessage[]> {
    return expectStatus(200, await this.request(input)).data as LeasedMessage[];
  }

  /** The next message, which must be there. */
  async leaseOne(input: object = {}): Promise<LeasedMessage> {
    const [leased] = await this.lease({ max: 1, ...input });
    if (leased === undefined) throw new Error('There is nothing to lease.');
    return leased;
  }

  ack({ id, leaseToken }: Pick<LeasedMessage, 'id' | 'leaseToken'>): Promise<HttpResponse> {
    return this.api.ask(this.account, `POST /messages/${id}/ack`, { leaseToken });
  }

  ackAll(leases: readonly object[]): Promise<HttpResponse> {
    return this.api.ask(this.account, 'POST /messages/ack', { leases });
  }

  nack({ id, leaseToken }: LeasedMessage, input: object = {}): Promise<HttpResponse> {
    return this.api.ask(this.account, `POST /messages/${id}/nack`, { leaseToken, ...input });
  }

  extend({ id, leaseToken }: LeasedMessage, seconds: number): Promise<HttpResponse> {
    return this.api.ask(this.account, `POST /messages/${id}/extend`, { leaseToken, seconds });
  }
}
