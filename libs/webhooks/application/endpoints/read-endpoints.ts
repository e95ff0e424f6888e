import type { Page } from '#kernel/page.js';
import { endpointNotFound, type Endpoint } from '../../domain/endpoint.js';
import type { Endpoints } from './endpoints.js';

/** What an account may read of its endpoints. */
export class ReadEndpoints {
  constructor(private readonly endpoints: Endpoints) {}

  /** @throws DomainError `endpoint_not_found`, also for an endpoint of another account */
  async find(accountId: string, id: string): Promise<Endpoint> {
    const endpoint = await this.endpoints.find(accountId, id);
    if (endpoint === null) throw endpointNotFound();
    return endpoint;
  }

  /** Newest first. */
  list(accountId: string, page: Page): Promise<Endpoint[]> {
    return this.endpoints.list(accountId, page);
  }
}
