import { endpointNotFound, type Endpoint } from '../domain/endpoint.js';
import type { Endpoints } from './endpoints.js';

export class GetEndpoint {
  constructor(private readonly endpoints: Endpoints) {}

  /** @throws DomainError `endpoint_not_found` */
  async execute(accountId: string, id: string): Promise<Endpoint> {
    const endpoint = await this.endpoints.find(accountId, id);
    if (endpoint === null) throw endpointNotFound();
    return endpoint;
  }
}
