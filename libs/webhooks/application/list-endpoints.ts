import type { Page } from '#kernel/page.js';
import type { Endpoint } from '../domain/endpoint.js';
import type { Endpoints } from './endpoints.js';

export class ListEndpoints {
  constructor(private readonly endpoints: Endpoints) {}

  /** Newest first. */
  execute(accountId: string, page: Page): Promise<Endpoint[]> {
    return this.endpoints.list(accountId, page);
  }
}
