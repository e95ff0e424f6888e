import { endpointNotFound } from '../../domain/endpoint.js';
import type { Endpoints } from './endpoints.js';

export class DeleteEndpoint {
  constructor(private readonly endpoints: Endpoints) {}

  /** @throws DomainError `endpoint_not_found` */
  async execute(accountId: string, id: string): Promise<void> {
    if (!(await this.endpoints.remove(accountId, id))) throw endpointNotFound();
  }
}
